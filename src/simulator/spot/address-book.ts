import { isDeepStrictEqual } from 'node:util'
import { createRandom, type Random } from '../../lib/random.ts'
import { COINS } from './coins.ts'

export interface BookAddress {
  readonly coin: string
  readonly chain: string
  readonly address: string
  readonly tag: string
}

/**
 * The real exchange's web client keeps the book. Here each coin and chain has one address, derived
 * from the UID.
 */
export function addressesOf(uid: string): readonly BookAddress[] {
  return COINS.flatMap(({ coin, chains }) =>
    chains.map(({ chain }) => {
      const random = createRandom(`address-book/${uid}/${coin}/${chain}`)
      return { coin, chain, address: drawAddress(random, chain), tag: '' }
    }),
  )
}

export function hasAddress(uid: string, sought: BookAddress): boolean {
  return addressesOf(uid).some((entry) => isDeepStrictEqual(entry, sought))
}

export function contactOf(uid: string) {
  return {
    uid,
    email: `${uid}@mail.example`,
    mobile: uid.padStart(11, '0').slice(-11),
    areaCode: '1',
  }
}

const HEX = '0123456789abcdef'
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The address has the form of its chain, and no known key. */
function drawAddress(random: Random, chain: string): string {
  if (chain === 'ERC20') return `0x${drawText(random, HEX, 40)}`
  return (chain === 'TRC20' ? 'T' : '1') + drawText(random, BASE58, 33)
}

function drawText(random: Random, letters: string, length: number): string {
  let text = ''
  while (text.length < length) text += letters[random.integer(letters.length)] ?? ''
  return text
}
