import {
  type ArrowFunctionExpression,
  type Function as FunctionNode,
  type Node,
  parseSync,
  Visitor,
} from 'oxc-parser'

/** A text that is put into a source. Closing ones of the same place stand in reverse order: what opened last closes first. */
interface Insertion {
  readonly at: number
  readonly text: string
  readonly closes: boolean
}

/**
 * The source with a call of `__entered` at the beginning of each function and, where a function runs in one go, of
 * `__left` at its end. Their argument is the index of the function's name, `file:function`, which is added to `names`.
 */
export function markFunctions(file: string, source: string, names: string[]): string {
  const { program, errors } = parseSync(file, source)
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`)
  const namesOfNodes = new Map<Node, string>()
  const insertions: Insertion[] = []
  const named = (node: Node | null, key: Node): void => {
    if (node !== null) namesOfNodes.set(node, source.slice(key.start, key.end))
  }
  const marked = (node: FunctionNode | ArrowFunctionExpression): void => {
    if (node.body === null) return
    const name = node.id?.name ?? namesOfNodes.get(node) ?? 'callback'
    insertions.push(...marksOf(node, names.push(`${file}:${name}`) - 1))
  }
  new Visitor({
    VariableDeclarator: ({ id, init }) => named(init, id),
    MethodDefinition: ({ key, value }) => named(value, key),
    PropertyDefinition: ({ key, value }) => named(value, key),
    Property: ({ key, value }) => named(value, key),
    FunctionDeclaration: marked,
    FunctionExpression: marked,
    ArrowFunctionExpression: marked,
  }).visit(program)
  return insert(source, insertions)
}

function marksOf(node: FunctionNode | ArrowFunctionExpression, id: number): readonly Insertion[] {
  const { body } = node
  if (body === null) return []
  const runsInOneGo = !node.async && !node.generator
  if (body.type !== 'BlockStatement') {
    const [opening, closing] = runsInOneGo
      ? [`(__entered(${id}),__left(${id},(`, ')))']
      : [`(__entered(${id}),(`, '))']
    return [opens(body.start, opening), closes(body.end, closing)]
  }
  const opening = opens(body.start + 1, runsInOneGo ? `__entered(${id});try{` : `__entered(${id});`)
  return runsInOneGo ? [opening, closes(body.end - 1, `}finally{__left(${id})}`)] : [opening]
}

function opens(at: number, text: string): Insertion {
  return { at, text, closes: false }
}

function closes(at: number, text: string): Insertion {
  return { at, text, closes: true }
}

/** TypeScript is kept: the types are stripped afterwards. */
function insert(source: string, insertions: readonly Insertion[]): string {
  const inOrder = insertions
    .map((insertion, index) => ({
      ...insertion,
      rank: insertion.closes ? 2 * insertions.length - index : index,
    }))
    .toSorted((one, other) => one.at - other.at || one.rank - other.rank)
  let text = ''
  let done = 0
  for (const { at, text: inserted } of inOrder) {
    text += source.slice(done, at) + inserted
    done = at
  }
  return text + source.slice(done)
}
