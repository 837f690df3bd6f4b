// A page knows whether its server is on the visitor's own machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isThisMachine } from "../../ui/components/page/own_machine.js";

test("names and addresses of the loopback lead to the machine itself, and no others", () => {
  const own = ["localhost", "app.localhost", "127.0.0.1", "127.1.2.3", "[::1]"];
  const others = ["example.org", "localhost.example.org", "192.168.0.7", "127.0.0.1.example.org", "[2001:db8::1]"];
  assert.deepEqual(own.filter((each) => !isThisMachine(each)), []);
  assert.deepEqual(others.filter(isThisMachine), []);
});
