import { type Refusal } from '../core/reply.ts'

/** Every refusal of the copy service, with code and message as the real exchange's error table has them. */
export const copyRefusals = {
  notTrader: (): Refusal => ({ code: '31001', message: 'The user is not a trader' }),
  symbolUnknown: (): Refusal => ({
    code: '31019',
    message: 'Support trading currency pair does not exist',
  }),
  symbolClosed: (): Refusal => ({
    code: '31021',
    message: 'The currency pair is not available for trading, please select another currency pair',
  }),
  symbolNotOpened: (): Refusal => ({
    code: '31052',
    message: 'Cannot set trading symbol that have not been opened by traders.',
  }),
} as const
