import { createRandom, type Random } from '../../lib/random.ts'
import { type Codec } from '../store/stored-rows.ts'
import { COINS, isSameName } from './coins.ts'
import { spotAccountOf, type BookAddress, type SpotAccount, type SpotState } from './spot-state.ts'

/** How other accounts name an account in internal transfers. */
export interface AccountContact {
  readonly uid: string
  readonly email: string
  /** Without the area code. */
  readonly mobile: string
  readonly areaCode: string
}

const ADDRESSES: Codec<SpotAccount, Pick<SpotAccount, 'uid' | 'addresses'>> = {
  table: 'addresses',
  id: ({ uid }) => uid,
  write: ({ uid, addresses }) => ({ uid, addresses }),
}

export function restoreAddresses({ ports, accounts }: SpotState): void {
  for (const { uid, addresses } of ports.rows.read(ADDRESSES)) accounts.get(uid)?.addresses.push(...addresses)
}

/** The account's address book. It begins with one address a coin and chain, which follows from the account's UID. */
export function addressesOf(state: SpotState, uid: string): readonly BookAddress[] {
  return [...firstAddresses(uid), ...spotAccountOf(state, uid).addresses]
}

export function hasAddress(state: SpotState, uid: string, sought: BookAddress): boolean {
  return addressesOf(state, uid).some(
    ({ coin, chain, address, tag }) =>
      address === sought.address &&
      tag === sought.tag &&
      isSameName(coin, sought.coin) &&
      isSameName(chain, sought.chain),
  )
}

/** @throws RangeError when the book is full. */
export function addAddress(state: SpotState, uid: string, address: BookAddress): void {
  const { ports, settings } = state
  if (hasAddress(state, uid, address)) return
  if (addressesOf(state, uid).length >= settings.addressesMax) {
    throw new RangeError(`an address book holds at most ${settings.addressesMax} addresses`)
  }
  const account = spotAccountOf(state, uid)
  account.addresses.push(address)
  ports.rows.put(ADDRESSES, account)
}

/** How the accounts of the exchange can be reached: derived from their UIDs, the same at every start. */
export function contactOf(uid: string): AccountContact {
  return { uid, email: `${uid}@mail.example`, mobile: uid.padStart(11, '0').slice(-11), areaCode: '1' }
}

/** The same under every seed, so that a help text can name one. */
function firstAddresses(uid: string): BookAddress[] {
  return COINS.flatMap(({ coin, chains }) =>
    chains.map(({ chain }) => {
      const random = createRandom(`address-book/${uid}/${coin}/${chain}`)
      return { coin, chain, address: drawAddress(random, chain), tag: '' }
    }),
  )
}

const HEX = '0123456789abcdef'
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Looks like an address of its chain, and is none that anybody holds a key of. */
function drawAddress(random: Random, chain: string): string {
  if (chain === 'ERC20') return `0x${drawText(random, HEX, 40)}`
  return (chain === 'TRC20' ? 'T' : '1') + drawText(random, BASE58, 33)
}

function drawText(random: Random, letters: string, length: number): string {
  let text = ''
  while (text.length < length) text += letters[random.integer(letters.length)] ?? ''
  return text
}
