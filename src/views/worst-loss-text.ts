import type { SurvivalSettings, WorstCase } from '../domain/worst-case.ts'
import { viewWorst } from './losses-view.ts'
import type { ShownAccount } from './shown-account.ts'

/** @param survives the limit in the present files */
export function describeReloaded(
  shown: ShownAccount,
  survives: SurvivalSettings | undefined,
): readonly string[] {
  const worst = survives && shown.engine.worstCaseUnder(survives)
  return describeWorst({ settings: { survives } }, 'by the new moves, with what is held now', worst)
}

export function describeWorst(
  { settings }: { readonly settings: { readonly survives?: SurvivalSettings | undefined } },
  of: string,
  worst: WorstCase | undefined,
): readonly string[] {
  if (settings.survives === undefined)
    return ['the worst loss is not counted: risk.survives is not set']
  if (worst === undefined) return ['the worst loss is not known yet, or nothing is at risk']
  const { scenario, need, left } = viewWorst(worst)
  return [
    `worst loss with all that rests, ${of}: ${scenario} needs ${need} and leaves ${left}; what would leave less than nothing is denied`,
  ]
}
