// Whether a visitor who sees the end of a training has watched it.

/** Streamlit may remove a component and mount it again within this time; a visitor who goes to
    another page and comes back takes longer. */
export const MILLISECONDS_TO_MOUNT_AGAIN = 1000;

export class Watch {
  /** Until when a training that was live counts as watched. */
  #until = 0;

  /** Note a draw of the page; return whether a training that was watched has ended.
      @param {boolean} isLive
      @param {number} now in milliseconds */
  seesEnd(isLive, now) {
    const hasEnded = !isLive && now < this.#until;
    this.#until = isLive ? Infinity : 0;
    return hasEnded;
  }

  /** Note that the page was left, or that it is mounted again.
      @param {number} now in milliseconds */
  pause(now) {
    this.#until = Math.min(this.#until, now + MILLISECONDS_TO_MOUNT_AGAIN);
  }
}
