// The scenes below the start page's first screen: the visitor's sentence, carried on. Each scene is made when it
// comes near the view, in a task of its own, so that scrolling stays smooth on a slow processor.

import { followCarried, hearScenes } from "../shared/carried.js";
import { find } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { sampleLike } from "../shared/languages.js";
import { nextTask } from "../shared/slices.js";
import { writeDoors } from "../start_loop/doors.js";
import { CutScene } from "./cut_scene.js";
import { FarScene } from "./far_scene.js";
import { ListScene } from "./list_scene.js";
import { ModelScene } from "./model_scene.js";

/** @import { Carried } from "../shared/carried.js"
    @import { Sentence } from "./cut_scene.js"
    @import { Door } from "../start_loop/doors.js"
    @import { Price } from "./model.js"
    @import { Reading } from "./reading.js"
    @import { Component } from "../shared/component.js" */

/** @typedef {{ sentence: string, seen: string, unseen: string, languages: Sentence[], doors: Door[], prices: Price[],
      readings: Record<"sentence" | "letters" | "sum", Reading> }} Given */
/** @typedef {{ take: (sentence: Carried) => unknown, destroy: () => void }} Scene */

const NEAR = "400px 0px"; // how far from the view a scene is made
const REST = 400; // ms without a key press before a scene takes what was typed

/** @type {WeakMap<ShadowRoot, Story>} */
const stories = new WeakMap();

/** @param {Component<Given>} component */
export default function mountStory({ data, parentElement, setTriggerValue }) {
  const story = stories.get(parentElement) ?? new Story(parentElement, data, (text) => setTriggerValue("reading", text));
  stories.set(parentElement, story);
  writeDoors(find(parentElement, ".doors", HTMLElement), data.doors, (path) => {
    const { text } = story.sentence;
    setTriggerValue("door", { path, sentence: text, sample: sampleLike(text) });
  });
  return onLeaving(parentElement, () => {
    stories.get(parentElement)?.destroy();
    stories.delete(parentElement);
  });
}

class Story {
  /** @param {ShadowRoot} root
      @param {Given} given
      @param {(text: string) => void} ask Asks what a model is given of a sentence. */
  constructor(root, given, ask) {
    /** @type {Record<string, (section: HTMLElement) => Scene>} */
    const makers = {
      cut: (section) => new CutScene(section, given.languages),
      list: (section) => new ListScene(section, given.sentence),
      far: (section) => new FarScene(section, given),
      model: (section) => new ModelScene(section, given, ask),
    };
    /** @type {Carried} */
    this.sentence = { text: given.sentence, run: null };
    /** @type {Scene[]} */
    this.scenes = [];
    this.timer = 0;
    /** @type {Promise<unknown>} */
    this.turn = Promise.resolve();
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting || !(target instanceof HTMLElement)) continue;
        this.observer.unobserve(target);
        this.#inTurn(() => {
          const scene = makers[target.id](target);
          this.scenes.push(scene);
          this.#inTurn(() => scene.take(this.sentence));
        });
      }
    }, { rootMargin: NEAR, scrollMargin: NEAR }); // the app scrolls in an element of its own
    for (const section of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("section"))) this.observer.observe(section);
    followCarried((sentence) => this.#take(sentence), signal);
    hearScenes((id) => showScene(root, id), signal);
    root.addEventListener("click", (event) => followLink(root, event), { signal });
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.ending.abort();
    for (const scene of this.scenes) scene.destroy();
  }

  /** @param {Carried} sentence */
  #take(sentence) {
    this.sentence = sentence;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.scenes.forEach((scene) => this.#inTurn(() => scene.take(sentence))), REST);
  }

  /** Do a part of the work in a task of its own, after those that wait already.
      @param {() => unknown} part */
  #inTurn(part) {
    this.turn = this.turn.then(() => nextTask()).then(() => {
      if (!this.ending.signal.aborted) part();
    });
  }
}

/** Go to the scene of a link: a browser finds no targets in a component.
    @param {ShadowRoot} root
    @param {Event} event */
function followLink(root, event) {
  const link = event.target instanceof Element ? event.target.closest("a.next") : null;
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  showScene(root, link.hash.slice(1));
}

/** @param {ShadowRoot} root
    @param {string} id */
function showScene(root, id) {
  const heading = find(root, `#${id} h2`, HTMLElement);
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading.scrollIntoView({ behavior: calm ? "instant" : "smooth" });
  heading.focus({ preventScroll: true });
}
