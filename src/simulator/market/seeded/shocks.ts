/**
 * What moves a price in one step: mostly nothing, now and then a shock with fat tails (Student's t with 4
 * degrees of freedom), rarely a jump. Real quotes stand still through 87 % of all 100 ms.
 */
import { exponential, logarithm, type Random } from '../../../lib/random.ts'

/** A jump's share of the variance, and how often one comes: 4 a day, double exponential. */
const JUMP_VARIANCE_SHARE = 0.06
const JUMPS_PER_DAY = 4
const DAY_MS = 86_400_000

/** One shock of Student's t beyond this is cut: with coarse steps it would be a move of several per cent. */
const STUDENT_MAX = 12

export interface Shocks {
  /** 0, or a shock; over many steps mean 0 and variance 1. */
  draw(random: Random): number
  /** How often a step has one. */
  readonly probability: number
}

/** @param stepMs Market time of one step. @param perSecond How many shocks a second of market time. */
export function createShocks({ stepMs, perSecond }: { stepMs: number; perSecond: number }): Shocks {
  const probability = 1 - exponential((-perSecond * stepMs) / 1000)
  const jumpProbability = 1 - exponential((-JUMPS_PER_DAY * stepMs) / DAY_MS)
  const shockScale = Math.sqrt((1 - JUMP_VARIANCE_SHARE) / probability)
  const jumpScale = Math.sqrt(JUMP_VARIANCE_SHARE / jumpProbability)
  const shocks = { probability, draw }

  function draw(random: Random): number {
    const chance = random.next()
    const shock = chance < probability ? shockScale * drawStudent(random) : 0
    return chance >= 1 - jumpProbability ? shock + jumpScale * drawLaplace(random) : shock
  }

  return shocks
}

/** Student's t with 4 degrees of freedom, scaled to variance 1: -2 ln(u v) is chi-square with 4. */
function drawStudent(random: Random): number {
  const chi = -logarithm((1 - random.next()) * (1 - random.next()))
  const shock = random.normal() / Math.sqrt(Math.max(chi, 1e-9))
  return Math.max(-STUDENT_MAX, Math.min(STUDENT_MAX, shock))
}

/** Double exponential with variance 1. */
function drawLaplace(random: Random): number {
  const size = -logarithm(1 - random.next()) / Math.SQRT2
  return random.next() < 0.5 ? -size : size
}
