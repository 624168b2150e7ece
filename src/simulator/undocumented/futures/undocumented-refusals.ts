import { refusal } from '../../shared/common-refusals.ts'

/** Refusals that only the undocumented endpoints have, with code and message of the real exchange's table. */
export const undocumentedRefusals = {
  orderUnknown: () =>
    refusal('40109', 'The data of the order cannot be found, please confirm the order number'),
  positionModeFixed: () => refusal('40920', 'Position or order exists, the position mode cannot be switched'),
  leverageHeld: () =>
    refusal(
      '22020',
      'The leverage multiple is the leverage multiple of the current position and cannot be adjusted.',
    ),
  leverageOrdered: () =>
    refusal('45097', 'There is currently an order or a limit order, and the leverage cannot be adjusted'),
  leverageTooHigh: () => refusal('25223', 'Exceeds Max. leverage'),
} as const
