// The script of the engine's Web Worker.

import serve from "./engine/worker.js";

serve(self);
