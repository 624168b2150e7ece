import { singleRow, type StoredRows } from '../store/stored-rows.ts'

/** One counter of ids for all services, so that no two records of them share an id. */
export interface OrderSequence {
  /** The next number, from 1 on; a restart goes on where it stopped. */
  next(): number
}

const SEQUENCE = singleRow<{ last: number }>('service_sequence')

export function createOrderSequence(rows: StoredRows): OrderSequence {
  const sequence = rows.readOne(SEQUENCE, SEQUENCE.id()) ?? { last: 0 }
  return {
    next() {
      sequence.last++
      rows.put(SEQUENCE, sequence)
      return sequence.last
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
