/** An answer of the Bot API as it was published, to the byte where the source has it so. */
export interface RecordedAnswer {
  readonly source: string
  readonly status: number
  readonly body: string
  /** Whether the message is sent again. */
  readonly isKept: boolean
  readonly retryAfterMs?: number
}

/** Descriptions without a recorded body stand in the server's source, with Query.h for their frame. */
const SERVER = 'github.com/tdlib/telegram-bot-api at 01a3679c'

export const RECORDED_ANSWERS: readonly RecordedAnswer[] = [
  {
    source: 'github.com/flathunters/flathunter/issues/88 (quotes of JSON put back)',
    status: 429,
    body: '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 34","parameters":{"retry_after":34}}',
    isKept: true,
    retryAfterMs: 34_000,
  },
  {
    source: 'github.com/eternnoir/pyTelegramBotAPI/issues/987',
    status: 409,
    body: '{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}',
    isKept: false,
  },
  {
    source: 'github.com/LiveHelperChat/telegram/issues/64',
    status: 400,
    body: '{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}',
    isKept: false,
  },
  {
    source: 'github.com/Achaak/toogoodtogo-bot/issues/27 (quotes of JSON put back)',
    status: 403,
    body: '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}',
    isKept: false,
  },
  {
    source: `${SERVER}: Client.cpp, fail_query_with_error with "chat not found"`,
    status: 400,
    body: '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
    isKept: false,
  },
  {
    source: 'github.com/tdlib/telegram-bot-api/issues/353 (the description)',
    status: 400,
    body: '{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}',
    isKept: false,
  },
  {
    source: `${SERVER}: ClientManager.cpp, send`,
    status: 401,
    body: '{"ok":false,"error_code":401,"description":"Unauthorized: invalid token specified"}',
    isKept: false,
  },
]
