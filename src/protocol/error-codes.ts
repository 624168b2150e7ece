/**
 * A code other than `00000` means for the request:
 *
 * - `definite`: not accepted, and will not be.
 * - `ambiguous`: unknown; an order may exist. Every unlisted code is ambiguous.
 * - `exists`: an order with this clientOid was accepted earlier.
 * - `retry`: not accepted now; the same request may be sent again later.
 */
export type ErrorClass = 'definite' | 'ambiguous' | 'exists' | 'retry'

export interface ErrorCode {
  readonly class: ErrorClass
  readonly topic: ErrorTopic
}

/**
 * From the vendor's error table, guides and public clients; the document lists only `00000`.
 * Messages are translated and misspelt, so match on the code alone.
 */
const CODES = [
  [
    'definite',
    'auth',
    '40001 40002 40003 40011 40006 40037 40009 40012 40036 40014 40018 40038 40099 22010',
  ],
  ['retry', 'clock', '40004 40005 40008 40911 40078 40079'],
  [
    'definite',
    'parameter',
    '40007 40404 30021 40017 40019 40020 40034 40053 400171 400172 40304 40305 40306',
  ],
  [
    'definite',
    'parameter',
    '40402 41101 41103 40808 40812 00171 00172 00001 20001 40912 40924 40063',
  ],
  [
    'definite',
    'parameter',
    '11000 12006 13002 43112 43114 43121 43126 43131 31001 50032 50034 50039',
  ],
  ['exists', 'duplicate', '40786 45034 43118 50060 40708 25212'],
  ['definite', 'balance', '40754 40762 43012 45002 40711 40712 40798 40800 50020 50035'],
  ['definite', 'sizeStep', '22038'],
  ['definite', 'sizeMin', '43006 45111'],
  ['definite', 'sizeMax', '43007 45112'],
  ['definite', 'notionalMin', '45110'],
  ['definite', 'size', '43027 22034 45113 40921 40887 40888'],
  ['definite', 'priceStep', '45035 45115'],
  ['definite', 'priceHigh', '43009 43039'],
  ['definite', 'priceLow', '43008 43040'],
  ['definite', 'wouldTake', '40815 40816'],
  ['definite', 'exitPrice', '40917 45122 40830 40832'],
  ['definite', 'price', '43028 22006 22007 22008 22009 40820 40821 40721 40824 50029'],
  ['definite', 'positionMode', '40774 45021 43075 40920'],
  ['definite', 'marginMode', '45117'],
  ['definite', 'leverage', '45097 25223 22020'],
  ['definite', 'noPosition', '22002 43043 40757 40804 45003 45005 45006'],
  ['definite', 'orderGone', '40109 40768 43001 45057 31007 22001 43004 40819 43025 43026 50062'],
  [
    'definite',
    'instrument',
    '40102 40072 40309 40845 40844 45043 40308 41114 22039 22040 22041 45119 22067',
  ],
  ['definite', 'instrument', '22043 22004 43115 43120 50066 31019 31021 31052'],
  ['definite', 'accountRisk', '40710 40024 40928 22029 45009 45107 45108 40931'],
  ['definite', 'openOrders', '40723 40761 43005 45118 40715 40889 43128 50048'],
  ['retry', 'rate', '429 1001'],
  ['retry', 'system', '45129'],
  ['ambiguous', 'system', '40010 40910 40015 40725 45001 50031 80002 40908 40200 43059'],
] as const satisfies ReadonlyArray<readonly [ErrorClass, string, string]>

export type ErrorTopic = (typeof CODES)[number][1]

const TABLE: ReadonlyMap<string, ErrorCode> = new Map(
  CODES.flatMap(([errorClass, topic, codes]) =>
    codes.split(' ').map((code) => [code, { class: errorClass, topic }] as const),
  ),
)

const UNLISTED: ErrorCode = { class: 'ambiguous', topic: 'system' }

/** Unknown is never rejected. */
export function errorCode(code: string | null | undefined): ErrorCode {
  return TABLE.get(code ?? '') ?? UNLISTED
}

export function listedErrorCodes(): IterableIterator<[string, ErrorCode]> {
  return TABLE.entries()
}
