import type { InventedDocket } from './invented-docket.ts'

/** A docket as `/api/rest/v4/dockets/<id>/` answers it, with every field that the API documents. */
export function docketAnswer(docket: InventedDocket, baseUrl: string): Readonly<Record<string, unknown>> {
  const { slug, ...known } = docket
  return {
    resource_uri: `${baseUrl}/dockets/${docket.id}/`,
    ...known,
    court: `${baseUrl}/courts/${docket.court_id}/`,
    original_court_info: null,
    idb_data: null,
    clusters: [],
    audio_files: [],
    assigned_to: null,
    referred_to: null,
    absolute_url: `/docket/${docket.id}/${slug}/`,
    slug,
    source: 9,
    appeal_from_str: '',
    panel_str: '',
    date_last_index: docket.date_modified,
    date_cert_granted: null,
    date_cert_denied: null,
    date_argued: null,
    date_reargued: null,
    date_reargument_denied: null,
    case_name_short: '',
    case_name_full: '',
    appellate_fee_status: '',
    appellate_case_type_information: '',
    mdl_status: '',
    filepath_ia: '',
    filepath_ia_json: '',
    ia_upload_failure_count: null,
    ia_needs_upload: null,
    ia_date_first_change: null,
    date_blocked: null,
    blocked: false,
    appeal_from: null,
    tags: [],
    panel: [],
  }
}
