import { type ServiceStore } from '../service-store.ts'

/** One counter of ids for all services, so that no two records of them share an id. */
export interface OrderSequence {
  /** The next number, from 1 on; a restart goes on where it stopped. */
  next(): number
}

const ROW = 'sequence/last'

export function createOrderSequence(store: ServiceStore): OrderSequence {
  let last = Number(store.rows(ROW)[0]?.json ?? '0')
  return {
    next() {
      last++
      store.put(ROW, String(last))
      return last
    },
  }
}

/** 18 digits, and none of the futures core's ids (11… orders, 12… trades): an id names its service's record. */
export function serviceIdText(sequence: number): string {
  return `13${String(sequence).padStart(16, '0')}`
}

/** Ids of one length compare as texts; an id that is none of ours compares as the number it is. */
export function isIdBefore(id: string, other: string): boolean {
  return id.length === other.length ? id < other : BigInt(id) < BigInt(other)
}
