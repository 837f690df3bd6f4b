// What the browser's modules are checked for beside their types (`make js`).

import { readdirSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import globals from "globals";

const TESTS = "tests/js";

/** The modules that Node's tests import: what they test must need no page. */
const testedInNode = readdirSync(TESTS).filter((name) => name.endsWith(".js")).flatMap((name) => {
  const imports = readFileSync(`${TESTS}/${name}`, "utf-8").matchAll(/ from "(\.\.[^"]+)"/g);
  return Array.from(imports, ([, path]) => relative(".", resolve(TESTS, path)));
});

/** What is there in a page and in Node alike, such as `atob`. */
const globalsOfBoth = Object.fromEntries(
  Object.entries(globals.browser).map(([name, value]) => [name, name in globals.nodeBuiltin ? value : "off"]),
);

/** Names of `window` that are easily meant otherwise: a parameter that was forgotten reads one of them. */
const TREACHEROUS = ["close", "event", "find", "focus", "length", "name", "open", "parent", "scroll", "status", "stop", "top"];

export default [
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      // A name that nobody defines, or that nobody uses: an import or export that was forgotten.
      "no-undef": "error",
      "no-unused-vars": "error",
      "no-restricted-globals": ["error", ...TREACHEROUS],
      // `==` takes 0 and "" for the same, and a token may be either.
      eqeqeq: "error",
      // What never changes says so.
      "prefer-const": "error",
      "no-var": "error",
      // Text of visitors must never become markup, and the site's minifier takes no template within a template:
      // it removes spaces there.
      "no-restricted-syntax": [
        "error",
        { selector: "TemplateLiteral TemplateLiteral", message: "Name the inner template, or join strings." },
        {
          selector: "MemberExpression[property.name=/^(inner|outer)HTML$|HTMLUnsafe$|^insertAdjacentHTML$|^write(ln)?$/]",
          message: "Set textContent, or add elements: this makes markup of a text.",
        },
      ],
    },
  },
  { files: ["ui/components/**/*.js", "static_site/browser/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: testedInNode, languageOptions: { globals: globalsOfBoth } },
  { files: ["*.js", "benchmarks/*.js", `${TESTS}/*.js`], languageOptions: { globals: globals.nodeBuiltin } },
];
