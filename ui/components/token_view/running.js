// Characters of running text, and handing text to the clipboard.

const NEEDS_CARE = /[\p{Z}\p{Cc}\p{Cf}\p{Co}\p{Cn}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]|^\p{M}/u;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const UTF8 = new TextEncoder();

/** Draws whole characters of running text: every one of them is in the page as itself, and glyphs
    and code points are added by style, so that they are never found or copied. */
function drawRunning(element, piece) {
  if (!NEEDS_CARE.test(piece)) {
    element.append(piece);
    return;
  }
  let run = "";
  const flush = () => {
    if (!run) return;
    if (MARK.test(run)) addPart(element, "span", "loose-mark", run);
    else element.append(run);
    run = "";
  };
  const addCode = (character) => {
    addPart(element, "i", "code", character).dataset.code = codePointName(character);
  };
  for (const { segment } of GRAPHEMES.segment(piece)) {
    const glyph = { " ": "sp", "\t": "tab", "\n": "nl" }[segment];
    if (glyph) {
      flush();
      addPart(element, "i", glyph, segment);
    } else if (segment === "\r\n") {
      flush();
      addCode("\r");
      addPart(element, "i", "nl", "\n");
    } else if ([...segment].every((c) => CONTROL.test(c) || OTHER_SPACE.test(c))) {
      flush();
      for (const character of segment) addCode(character);
    } else {
      run += segment;
    }
  }
  flush();
}

/** Copies a text, with the older way where the page isn't in a secure context. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.cssText = "position:fixed;opacity:0";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
