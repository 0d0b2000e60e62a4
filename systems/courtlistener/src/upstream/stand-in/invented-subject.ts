/** Courts as CourtListener names them: real courts, but everything said of them here is invented. */
export const courts = [
  { id: 'dcd', office: 1, judges: ['Marian Oduya', 'Peter Hallström'] },
  { id: 'cand', office: 3, judges: ['Lucía Bermúdez', 'Wen Zhao'] },
  { id: 'nysd', office: 1, judges: ['Abigail Thornquist', 'Samuel Okonjo'] },
  { id: 'txed', office: 2, judges: ['Rowan Castellane'] },
  { id: 'ilnd', office: 1, judges: ['Ingrid Pawlak', 'Dev Banerjee'] },
  { id: 'mad', office: 1, judges: ['Theodora Finch'] },
] as const

/** What suits are about: PACER's nature of suit, the cause, and the code in the docket number. */
export const subjects = [
  { nature: 'Other Statutory Actions', cause: '28:1331 Fed. Question', code: 'cv' },
  { nature: '830 Patent', cause: '35:271 Patent Infringement', code: 'cv' },
  { nature: '440 Civil Rights: Other', cause: '42:1983 Civil Rights Act', code: 'cv' },
  { nature: '190 Contract: Other', cause: '28:1332 Diversity-Breach of Contract', code: 'cv' },
  { nature: '791 Labor: E.R.I.S.A.', cause: '29:1132 E.R.I.S.A.', code: 'cv' },
  { nature: '', cause: '', code: 'cr' },
  { nature: '893 Environmental Matters', cause: '42:7604 Clean Air Act', code: 'cv' },
] as const

/** Who sues or is sued. */
export const parties = [
  'Harborview Shipping, Inc.',
  'Alder & Finch LLP',
  'Quillon Batteries LLC',
  "O'Rourke",
  'Nakamura-Lindqvist',
  'Tidewater Growers Cooperative',
  'Castañeda',
  'City of Marrow Bay',
  'Brightwell Hospital Trust',
  'Vandermeer',
  'Sable Ridge Mining Co.',
  'Doe 1',
  'Ferrograph Instruments, Ltd.',
  'Petrosyan',
  'The "Lantern" Theatre Guild',
] as const
