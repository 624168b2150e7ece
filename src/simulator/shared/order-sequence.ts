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

/** What an id is of, by how it begins. */
const ID_PREFIXES = {
  order: '11',
  trade: '12',
  service: '13',
  takeProfit: '14',
  stopLoss: '15',
} as const

/** 18 digits: longer than a float holds exactly, so that a client which parses ids as numbers is found out. */
export function idText(of: keyof typeof ID_PREFIXES, sequence: number): string {
  return ID_PREFIXES[of] + String(sequence).padStart(16, '0')
}

/** Of a record of any service beside futures. */
export function serviceIdText(sequence: number): string {
  return idText('service', sequence)
}

/** Ids of one length compare as texts; an id that is none of ours compares as the number it is. */
export function isIdBefore(id: string, other: string): boolean {
  return id.length === other.length ? id < other : BigInt(id) < BigInt(other)
}
