import { refusal } from '../shared/common-refusals.ts'

/** Every refusal of the copy service, with code and message as the real exchange's error table has them. */
export const copyRefusals = {
  notTrader: () => refusal('31001', 'The user is not a trader'),
  symbolUnknown: () => refusal('31019', 'Support trading currency pair does not exist'),
  symbolClosed: () =>
    refusal('31021', 'The currency pair is not available for trading, please select another currency pair'),
  symbolNotOpened: () => refusal('31052', 'Cannot set trading symbol that have not been opened by traders.'),
} as const
