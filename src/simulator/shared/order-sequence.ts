import { singleRow, type StoredRows } from '../store/stored-rows.ts'

/** One counter for all services, so that no two records share an id. */
export interface OrderSequence {
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

const ID_PREFIXES = {
  order: '11',
  trade: '12',
  service: '13',
  takeProfit: '14',
  stopLoss: '15',
} as const

/** 18 digits exceed a float, so that a client that parses ids as numbers fails visibly. */
export function idText(of: keyof typeof ID_PREFIXES, sequence: number): string {
  return ID_PREFIXES[of] + String(sequence).padStart(16, '0')
}

export function serviceIdText(sequence: number): string {
  return idText('service', sequence)
}

/** Ids of one length compare as texts; an id of another length compares as a number. */
export function isIdBefore(id: string, other: string): boolean {
  return id.length === other.length ? id < other : BigInt(id) < BigInt(other)
}
