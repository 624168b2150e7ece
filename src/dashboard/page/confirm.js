import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { command, confirmProposal, newRequestId, Refused } from './api.js'
import { Badge, html, scopeName } from './parts.js'

/** The dialog then says so. */
const PATIENT_MS = 5000
/** The daemon has not answered in time, and may still obey. */
const LATE = 504

export const WHERE_TO_TYPE =
  '(in a terminal, in the folder that the daemon was started in; in a checkout node bin/intentd.mjs stands for intentd)'

export function killCommand(live) {
  return `intentd kill${live?.head.configOption ?? ''} --reason "…"`
}

/** Typing must not delay a kill. */
const UNSAID = 'no reason given'

export function Confirm({ action, live, account, onClose }) {
  const dialog = useRef(null)
  const close = useRef(null)
  const [opener] = useState(() => document.activeElement)
  const [reason, setReason] = useState('')
  const [stage, setStage] = useState('asking')
  const [answer, setAnswer] = useState(undefined)
  const [requestId] = useState(newRequestId)
  const [code, setCode] = useState('')
  const [refusal, setRefusal] = useState(undefined)
  const proposal = stage === 'answered' ? answer.proposal : undefined
  // Before paint, so that the next keystrokes go into the dialog.
  useLayoutEffect(() => dialog.current.showModal(), [])
  useEffect(() => {
    if (stage !== 'asking' && !proposal) close.current?.focus()
  }, [stage, proposal])
  const end = () => {
    onClose()
    // The page must first be drawn without the dialog.
    setTimeout(() => opener?.isConnected && opener.focus())
  }

  const mayBeUnsaid = action.order.kind === 'kill'
  const approve = async () => {
    try {
      setAnswer(await confirmProposal({ id: proposal.id, code: code.trim() }))
    } catch (error) {
      setRefusal(error instanceof Refused ? error.message : 'No answer: try it again.')
      setCode('')
    }
  }
  const send = async (event) => {
    event.preventDefault()
    if (proposal) return approve()
    setStage('sent')
    const waited = setTimeout(() => setStage('late'), PATIENT_MS)
    try {
      // The same id: a command whose answer was lost is not obeyed twice.
      setAnswer(await command({ requestId, order: action.order, reason: reason.trim() || UNSAID }))
      setStage('answered')
    } catch (error) {
      const isRefused = error instanceof Refused && error.status !== LATE
      if (isRefused) setAnswer({ isObeyed: false, text: error.message })
      setStage(isRefused ? 'answered' : 'lost')
    }
    clearTimeout(waited)
  }
  return html`<dialog ref=${dialog} onClose=${end} aria-labelledby="confirm-title">
    <form onSubmit=${send}>
      <h2 id="confirm-title">${action.title}</h2>
      <p>${action.effect}</p>
      ${warningsOf(action.order, account).map((text) => html`<p class="problem" key=${text}>${text}</p>`)}
      ${
        stage === 'asking' &&
        html`<label
          >Why, for the journal${mayBeUnsaid && ' (may be left out)'}
          <input
            name="reason"
            value=${reason}
            onInput=${(event) => setReason(event.target.value)}
            maxlength="500"
            required=${!mayBeUnsaid}
            autocomplete="off"
            autofocus
        /></label>`
      }
      ${stage !== 'asking' && !proposal && html`<${Outcome} stage=${stage} answer=${answer} live=${live} order=${action.order} />`}
      ${proposal && html`<${Approval} proposal=${proposal} refusal=${refusal} code=${code} onCode=${setCode} />`}
      <p class="buttons">
        ${
          stage === 'asking'
            ? html`<button type="button" onClick=${() => dialog.current.close()}>Leave it</button>`
            : html`<button
                type="button"
                class=${stage === 'answered' ? 'main' : ''}
                ref=${close}
                onClick=${() => dialog.current.close()}
              >
                Close
              </button>`
        }
        ${
          (stage === 'asking' || stage === 'lost' || proposal) &&
          html`<button
            type="submit"
            class=${action.isGrave ? 'grave' : 'main'}
            disabled=${proposal ? code.trim() === '' : !mayBeUnsaid && reason.trim() === ''}
          >
            ${proposal ? 'Confirm' : stage === 'lost' ? 'Send it again' : action.verb}
          </button>`
        }
      </p>
    </form>
  </dialog>`
}

function Approval({ proposal, refusal, code, onCode }) {
  const field = useRef(null)
  useEffect(() => field.current.focus(), [])
  return html`<div role="status">
      <p>Not done yet: this can add risk. Proposal ${proposal.id} would change:</p>
      <ul>
        ${proposal.changes.map((text) => html`<li key=${text}>${text}</li>`)}
      </ul>
      ${proposal.notes.map((text) => html`<p key=${text}>${text}</p>`)}
      ${refusal && html`<p class="problem">${refusal}</p>`}
    </div>
    <label
      >Code of the authenticator, within ten minutes
      <input
        name="code"
        ref=${field}
        value=${code}
        onInput=${(event) => onCode(event.target.value)}
        inputmode="numeric"
        autocomplete="one-time-code"
        maxlength="20"
        required
    /></label>`
}

function Outcome({ stage, answer, live, order }) {
  const obeyed = order.kind === 'flatten' ? 'begun' : 'done'
  if (stage === 'answered')
    return html`<p class="answer" role="status">
      <${Badge}
        tone=${answer.isObeyed ? 'ok' : 'bad'}
        sign=${answer.isObeyed ? '✓' : answer.isUncertain ? '?' : '✕'}
      >
        ${answer.isObeyed ? obeyed : answer.isUncertain ? 'not confirmed' : 'not done'}<//
      >
      ${' '}${answer.text}
    </p>`
  if (stage === 'sent')
    return html`<p class="answer" role="status"><${Badge} sign="…">sent<//>${' '}It waits for its answer.</p>`
  return html`<p class="answer" role="status">
    <${Badge} tone="bad" sign="?">no answer<//>${' '}${
      stage === 'late'
        ? 'It was sent, and may still be obeyed.'
        : 'The daemon cannot be reached. If it was heard it is obeyed all the same; sent again, it is obeyed once.'
    }
    ${' '}To stop it all without the daemon: <code>${killCommand(live)}</code> ${WHERE_TO_TYPE}
  </p>`
}

function warningsOf(order, account) {
  const closing = (account?.restrictions ?? []).filter(({ code }) => code === 'flatten')
  const names = closing.map(({ scope }) => scopeName(scope)).join(', ')
  if (order.kind === 'flatten' && account?.kill)
    return ['A kill stands: nothing is closed before it is released.']
  if (order.kind === 'releaseKill' && closing.length > 0)
    return [`A closing waits for this: ${names} is closed at the market then.`]
  if (order.kind !== 'release') return []
  const isGivenUp = closing.some(({ scope, isClosing }) => isClosing && scope === order.scope)
  return [
    ...(isGivenUp ? ['A closing of it that is still under way is given up.'] : []),
    ...unclaimedIn(order.scope, account),
  ]
}

function unclaimedIn(scope, account) {
  const left = (account?.unattended ?? []).filter(
    ({ strategy, symbol }) =>
      strategy === null && symbol in account.ages.tickersMs && [symbol, '*'].includes(scope),
  )
  const symbols = [...new Set(left.map(({ symbol }) => symbol))]
  return symbols.map(
    (symbol) =>
      `No strategy holds all of ${symbol}: give the rest to one that trades it (intentd adopt ${symbol} --to ID) or flatten it first. The release is refused where a strategy would order it again.`,
  )
}
