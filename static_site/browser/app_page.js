// The page about the app, which opens an app that runs.

import { find } from "../../ui/components/shared/elements.js";
import { pathInApp } from "./links.js";
import { startFrame } from "./page_frame.js";

const path = pathInApp(window.location.search);
const link = find(document, "#running-app", HTMLAnchorElement);
link.href += path;
startFrame(() => ["", {}]);
