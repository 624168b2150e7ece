import { type AccountChoices } from '../../shared/account.ts'
import { type Account } from '../core-state.ts'

/** Adds to what was chosen before. Whether it may be changed now is the caller's to check. */
export function applyChoices(account: Account, choices: AccountChoices): void {
  account.choices = { ...account.choices, ...choices }
  const { positionMode, leverageBySymbol } = account.choices
  account.setup = {
    ...account.setup,
    ...(positionMode && { positionMode }),
    ...(leverageBySymbol && {
      leverageBySymbol: { ...account.setup.leverageBySymbol, ...leverageBySymbol },
    }),
  }
}
