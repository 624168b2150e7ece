/**
 * How a life begins, in this order; everything before it is the shell's: the lock, the journal, the kill file,
 * the exchange's clock, and, not in the first life, a pause for the rate windows of the life before (the limiter
 * gives no grant in it).
 *
 *     boot recorded, SENT ⇒ UNKNOWN ──► reading ──agrees──► resolving ──instruments free──► checking ──agrees──► running
 *                                                              └──nothing to resolve, or killed──────────────►
 *
 * `reading` until fills and positions agree with the book · `resolving` until every instrument has proved what became
 * of its unknown orders, and of what rests where `onRestart` says resolution; a halted instrument is not waited for ·
 * `checking` until fills and positions, read after all that, agree once more; back to `resolving` where a halted
 * instrument was released meanwhile. Strategies run only then.
 */
export interface StartPlan {
  phase: 'reading' | 'resolving' | 'checking'
  /** Unix ms, our clock: positions count that were asked for later. */
  readSince: number
}
