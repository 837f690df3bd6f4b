// What crosses between Python and a component, as the type checker reads it. Nothing of it runs.

/** What Streamlit hands to a component each time that it is drawn. */
export interface Component<Data> {
  data: Data;
  parentElement: ShadowRoot;
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

/** A token: a string where its bytes are UTF-8, else a list of byte values. */
export type Token = string | number[];
