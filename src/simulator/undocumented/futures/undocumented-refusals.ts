import { type Refusal } from '../../core/reply.ts'

/** Refusals that only the undocumented endpoints have, with code and message of the real exchange's table. */
export const undocumentedRefusals = {
  orderUnknown: (): Refusal => ({
    code: '40109',
    message: 'The data of the order cannot be found, please confirm the order number',
  }),
  orderToCancelUnknown: (): Refusal => ({ code: '43001', message: 'The order does not exist' }),
  positionModeFixed: (): Refusal => ({
    code: '40920',
    message: 'Position or order exists, the position mode cannot be switched',
  }),
  leverageHeld: (): Refusal => ({
    code: '22020',
    message: 'The leverage multiple is the leverage multiple of the current position and cannot be adjusted.',
  }),
  leverageOrdered: (): Refusal => ({
    code: '45097',
    message: 'There is currently an order or a limit order, and the leverage cannot be adjusted',
  }),
  leverageTooHigh: (): Refusal => ({ code: '25223', message: 'Exceeds Max. leverage' }),
} as const
