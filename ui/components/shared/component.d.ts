// Types of the data exchanged between Python and a component, for the type checker only.

/** What Streamlit passes to a component on each draw. */
export interface Component<Data> {
  data: Data;
  parentElement: ShadowRoot;
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

/** A token: a string where its bytes are UTF-8, else a list of byte values. */
export type Token = string | number[];
