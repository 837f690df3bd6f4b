// A page of text and links.

import { startFrame } from "./page_frame.js";

startFrame(() => ["lessons", {}]);
