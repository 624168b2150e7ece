import { Failure, type FailureDetails } from '../lib/failure.ts'

const SENTENCES = {
  RECORDING_MISSING: 'there is no recording',
  RECORDING_UNREADABLE: 'the recording cannot be read',
  RECORDING_EMPTY: 'the recording ends before its beginning is whole',
  RECORDING_NO_RECORDING: 'the file is no recording of intentd',
  RECORDING_FORMAT_UNKNOWN: 'the recording was written in a format that this version does not know',
  RECORDING_DAMAGED: 'the recording is damaged',
} as const

export type RecordingFailureCode = keyof typeof SENTENCES

export function recordingFailure(
  code: RecordingFailureCode,
  details: Omit<FailureDetails, 'code' | 'sentence'>,
): Failure {
  return new Failure({ code, sentence: SENTENCES[code], ...details })
}
