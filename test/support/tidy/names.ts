import { lineAt } from '../source-text.ts'
import type { SourceTree, TreeRule, Violation } from './source-tree.ts'

const TYPE =
  /^[ \t]*(?:export )?(?:abstract )?(?:type|interface|class|enum) (\w+)(?=\s*(?:[<={]|extends\b|implements\b))/gm

export const NAME_RULES: readonly TreeRule[] = [checkTypeNames]

/** A reader who searches for a type finds one. */
function checkTypeNames(tree: SourceTree): Violation[] {
  const firstOf = new Map<string, string>()
  const sources = [...tree.values()].filter(({ module }) => module !== undefined)
  return sources.flatMap(({ path, code }) =>
    [...code.matchAll(TYPE)].flatMap(({ 1: name = '', index }) => {
      const first = firstOf.get(name)
      if (first === undefined) firstOf.set(name, path)
      if (first === undefined || first === path) return []
      const message = `${first} has a type ${name} too: name each by what tells them apart`
      return [{ rule: 'type-name' as const, file: path, line: lineAt(code, index), message }]
    }),
  )
}
