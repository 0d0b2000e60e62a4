import type { Statistics } from './statistics.ts'

/** The statistics as a page that reads itself anew every five seconds. */
export function dataPage(statistics: Statistics, source: string): string {
  const cell = (name: string) => {
    const value = statistics[name]
    return `<td>${typeof value === 'number' ? value.toLocaleString('en') : escape(value ?? '–')}</td>`
  }
  const kinds = ['dockets', 'documents', 'comments', 'attachments']
  const rows = kinds.map(
    (kind) =>
      `<tr><th>${kind}</th>${cell(`num_jobs_${kind}_waiting`)}${cell(`num_${kind}_done`)}` +
      `${kind === 'attachments' ? '<td>–</td><td>–</td>' : cell(`regulations_total_${kind}`) + cell(`${kind}_last_timestamp`)}</tr>`,
  )
  const others = [
    ['Jobs waiting', 'jobs_waiting'],
    ['Jobs in progress', 'jobs_in_progress'],
    ['Jobs done', 'jobs_done'],
    ['Invalid jobs', 'invalid_jobs'],
    ['PDF attachments done', 'num_pdf_attachments_done'],
    ['Extractions done', 'num_extractions_done'],
    ['Clients so far', 'total_num_client_ids'],
    ['Bytes in the mirror', 'mirrulations_bucket_size'],
  ].map(([label, name]) => `<tr><th>${label}</th>${cell(name!)}</tr>`)
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width">
<title>Mirrulations</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; margin: 1rem 0; width: 100% }
  th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .3rem .6rem }
  th { text-align: left; font-weight: 500 }
  td, thead th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums }
</style>
<h1>Mirrulations</h1>
<p>Mirrored from ${escape(source)}.</p>
<table>
<thead><tr><th></th><th>Waiting</th><th>Done</th><th>Upstream</th><th>Seen up to (UTC)</th></tr></thead>
${rows.join('\n')}
</table>
<table>
${others.join('\n')}
</table>
</html>
`
}

function escape(text: string | number): string {
  return String(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
