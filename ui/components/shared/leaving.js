// The end of a component.

/** Return the function for Streamlit to call at a component's end. It calls `end` only once the
    component has left the page: Streamlit also calls it for a draw that the next one overtook while
    their script was loading, right after both have drawn into the same root.
    @param {ShadowRoot} root
    @param {() => void} end */
export function onLeaving(root, end) {
  return () => {
    if (!root.host.isConnected) end();
  };
}
