// Decoding base64, also of what is zipped.

/** Return the bytes encoded by a base64 string.
    @param {string} base64 */
export function bytesFromBase64(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Return the bytes that Python zipped with gzip and wrote in base64.
    @param {string} base64 */
export async function unzip(base64) {
  const packed = new Blob([bytesFromBase64(base64)]);
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
