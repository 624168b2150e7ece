/** A conversion as it is kept; amounts and prices are decimals in strings, prices in USDT. */
export interface ConvertRecord {
  readonly orderId: string
  readonly uid: string
  readonly fromCoin: string
  readonly fromAmount: string
  readonly fromCoinPrice: string
  readonly toCoin: string
  /** Before the fee. */
  readonly toAmount: string
  readonly toCoinPrice: string
  /** In the target coin. */
  readonly fee: string
  readonly createdAt: number
}

/** As the wire writes it: the field table's `ts` is `ctime` in the sample. Document: Convert record. */
export function toWireRecord(record: ConvertRecord) {
  const { orderId, fromCoin, fromAmount, fromCoinPrice, toCoin, toAmount, toCoinPrice, fee } = record
  return {
    orderId,
    fromCoin,
    fromAmount,
    fromCoinPrice,
    toCoin,
    toAmount,
    toCoinPrice,
    feeDetail: [{ feeCoin: toCoin, fee }],
    status: 'success',
    ctime: String(record.createdAt),
  }
}
