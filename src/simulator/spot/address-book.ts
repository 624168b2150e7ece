import { createRandom, type Random } from '../../lib/random.ts'
import { type ServicePorts } from '../account-service.ts'
import { type PlacedCodec } from '../store/stored-rows.ts'
import { COINS, isSameName } from './coins.ts'

/** Where an account may withdraw to on chain. Set up on the web client; here by the operator. */
export interface BookAddress {
  readonly coin: string
  readonly chain: string
  readonly address: string
  /** Of coins that need one; empty otherwise. */
  readonly tag: string
}

/** How other accounts name an account in internal transfers. */
export interface AccountContact {
  readonly uid: string
  readonly email: string
  /** Without the area code. */
  readonly mobile: string
  readonly areaCode: string
}

interface AddressRow {
  readonly uid: string
  readonly addresses: readonly BookAddress[]
}

const ADDRESSES: PlacedCodec<Map<string, readonly BookAddress[]>, AddressRow> = {
  table: 'addresses',
  id: ({ uid }) => uid,
  place: (all, { uid, addresses }) => all.set(uid, addresses),
}

/** The address books of all accounts. Each begins with one address a coin and chain, which follows from the account's UID. */
export class AddressBook {
  readonly #ports: ServicePorts
  readonly #addressesMax: number
  /** By uid; at most `addressesMax` each. */
  readonly #added = new Map<string, readonly BookAddress[]>()

  constructor(ports: ServicePorts, addressesMax: number) {
    this.#ports = ports
    this.#addressesMax = addressesMax
    ports.rows.restore(ADDRESSES, this.#added)
  }

  addresses(uid: string): readonly BookAddress[] {
    return [...firstAddresses(uid), ...(this.#added.get(uid) ?? [])]
  }

  has(uid: string, sought: BookAddress): boolean {
    return this.addresses(uid).some(
      ({ coin, chain, address, tag }) =>
        address === sought.address &&
        tag === sought.tag &&
        isSameName(coin, sought.coin) &&
        isSameName(chain, sought.chain),
    )
  }

  /** @throws RangeError when the book is full. */
  add(uid: string, address: BookAddress): void {
    if (this.has(uid, address)) return
    if (this.addresses(uid).length >= this.#addressesMax) {
      throw new RangeError(`an address book holds at most ${this.#addressesMax} addresses`)
    }
    const added = [...(this.#added.get(uid) ?? []), address]
    this.#added.set(uid, added)
    this.#ports.rows.put(ADDRESSES, { uid, addresses: added })
  }
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
