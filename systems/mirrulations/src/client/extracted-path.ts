/** Where the text of a stored file belongs: `<agency>/<docket>/text-<docket>/<kind>_extracted_text/plain/<name>_extracted.txt`. */
export function extractedPath(directory: string): string | undefined {
  const [, agency, docket, kind, name] =
    /^([^/]+)\/([^/]+)\/binary-[^/]+\/([a-z]+)_attachments\/([^/]+)$/.exec(directory) ?? []
  if (agency === undefined) return undefined
  return `${agency}/${docket}/text-${docket}/${kind}_extracted_text/plain/${name!.replace(/\.[^.]*$/, '')}_extracted.txt`
}
