// The static site's links: to the app, to a page without frame, and back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { appLink, frameCode, pathInApp, withQuery, withSameFrame } from "../../static_site/browser/links.js";

const QUERY = { text: "a&b <\"'>", tokenizer: "GPT-2" };

test("an address keeps its other parameters", () => {
  const address = "https://x.example/a.html?embed=1&text=old#step-2";
  assert.equal(withQuery(address, { text: "é", embed: null }), "https://x.example/a.html?text=%C3%A9#step-2");
});

test("a page within another's frame links to pages without a frame of their own", () => {
  const address = "https://x.example/a.html?run=alice#step-2";
  assert.equal(withSameFrame(address, "?embed=1&text=hug"), "https://x.example/a.html?run=alice&embed=1#step-2");
  assert.equal(withSameFrame(address, "?text=hug"), address);
});

test("a page is opened in the app that the site knows", () => {
  const link = new URL(appLink("https://app.example", "token_boundaries", QUERY));
  assert.equal(link.pathname, "/token_boundaries");
  assert.deepEqual(Object.fromEntries(link.searchParams), QUERY);
  assert.equal(appLink("https://app.example", "lessons", {}), "https://app.example/lessons");
});

test("without an app, the page about it is told what to open", () => {
  const { search } = new URL(appLink("", "token_boundaries", QUERY), "https://x.example");
  const opened = new URL(pathInApp(search), "http://127.0.0.1:8501/");
  assert.equal(opened.pathname, "/token_boundaries");
  assert.deepEqual(Object.fromEntries(opened.searchParams), QUERY);
});

test("only a path of the app is opened there", () => {
  for (const open of ["//evil.example", "https://evil.example", "javascript:alert(1)", "@evil.example", "../x", "a b"]) {
    assert.equal(pathInApp(`?${new URLSearchParams({ open })}`), "");
  }
  assert.equal(pathInApp(""), "");
});

test("the code of a frame is one element, whatever the address holds", () => {
  const code = frameCode('https://x.example/a.html?text="><script>&y=1', 'Title "quoted"');
  assert.match(code, /^<iframe src="[^"<>]*" title="Title &quot;quoted&quot;" [^<>]*><\/iframe>$/);
  assert.match(code, /&amp;embed=1"/);
});
