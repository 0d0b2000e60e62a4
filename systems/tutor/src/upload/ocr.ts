import type { Environment } from '@keyspec-systems/model'
import { requestJson, Secret, type Patience } from '@keyspec-systems/model/http'
import * as v from 'valibot'

import { OcrEntry } from '../shape/cached.ts'
import { UploadError } from './upload-error.ts'

/** Reads the text in an image. */
export interface Ocr {
  readonly name: string
  /** Fails with `not-configured` where there is nothing to read images with. */
  recognise(image: Uint8Array, contentType: string, signal?: AbortSignal): Promise<OcrEntry>
}

/**
 * OCR at `OCR_URL` (`POST` of the image, `OCR_TOKEN` as bearer where set, answering `text` and `confidence`); without
 * one, images are refused rather than guessed at.
 */
export function openOcr(environment: Environment, patience: Patience = {}): Ocr {
  const url = environment['OCR_URL']?.trim()
  if (!url) return unconfigured
  const name = new URL(url).host
  const token = environment['OCR_TOKEN']?.trim()
  return {
    name,
    async recognise(image, contentType, signal) {
      const request = { service: 'the OCR service', url, body: image, contentType, schema, signal }
      const answer = await requestJson({ ...request, token: token ? new Secret(token) : undefined }, patience)
      return { ...answer, source: name }
    },
  }
}

const schema = v.object(v.pick(OcrEntry, ['text', 'confidence']).entries)

const unconfigured: Ocr = {
  name: 'none',
  async recognise() {
    throw new UploadError('not-configured', 'Images cannot be read here: no OCR is configured (OCR_URL)')
  },
}
