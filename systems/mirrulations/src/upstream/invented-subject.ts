/** An agency as the stand-in invents it: how it numbers its dockets and what they are about. */
export interface Agency {
  readonly id: string
  /** What a docket id begins with. */
  readonly prefix: string
  readonly subjects: readonly string[]
}

/** The agencies are real, everything said of them is invented. */
export const agencies: readonly Agency[] = [
  {
    id: 'EPA',
    prefix: 'EPA-HQ-OAR',
    subjects: [
      'Emission Standards for Small Ceramic Kilns',
      'Reporting of Ammonia Releases from Cold Storage Plants',
      'Test Procedures for Portable Generators at Altitude',
      'Nutrient Criteria for Glacial Lakes',
    ],
  },
  {
    id: 'FDA',
    prefix: 'FDA',
    subjects: [
      'Labeling of Fermented Soy Beverages',
      'Sterility Testing of Single-Use Syringe Filters',
      'Voluntary Sodium Targets for Frozen Meals',
      'Current Good Practice for Compounded Eye Drops',
    ],
  },
  {
    id: 'FMCSA',
    prefix: 'FMCSA',
    subjects: [
      'Rest Breaks for Drivers of Bulk Milk Trucks',
      'Electronic Logs on Rented Vehicles',
      'Rear Guard Inspection',
    ],
  },
  {
    id: 'OSHA',
    prefix: 'OSHA',
    subjects: [
      'Heat Protection in Indoor Bakeries',
      'Ladder Safety for Orchard Workers',
      'Silica in Stone Countertop Shops',
    ],
  },
  {
    id: 'CMS',
    prefix: 'CMS',
    subjects: [
      'Payment for Remote Wound Care',
      'Quality Reporting by Rural Dialysis Clinics',
      'Hospital Price Files',
    ],
  },
  {
    id: 'APHIS',
    prefix: 'APHIS',
    subjects: [
      'Import of Fresh Pitahaya Fruit',
      'Movement of Honey Bee Colonies',
      'Traceability of Farmed Deer',
    ],
  },
  {
    id: 'FWS',
    prefix: 'FWS-R4-ES',
    subjects: [
      'Status Review of the Bayou Darter',
      'Critical Habitat for the Sand Lily',
      'Recovery Plan for the Ring Mussel',
    ],
  },
  {
    id: 'NHTSA',
    prefix: 'NHTSA',
    subjects: [
      'Brightness of Adaptive Headlamps',
      'Child Seat Anchors in Three-Wheelers',
      'Audible Warnings below 20 mph',
    ],
  },
]

/** What a document in a docket is, as the API names it, with the words its title begins with. */
export const documentTypes: readonly { readonly type: string; readonly title: string }[] = [
  { type: 'Proposed Rule', title: 'Proposed Rule' },
  { type: 'Supporting & Related Material', title: 'Regulatory Impact Analysis' },
  { type: 'Notice', title: 'Notice of Public Meeting' },
  { type: 'Rule', title: 'Final Rule' },
  { type: 'Other', title: 'Memorandum to the Docket' },
]

/** Who comments. */
export const commenters: readonly string[] = [
  'Alma Reyes',
  'Bertrand Okafor',
  'Citizens for Clear Rules',
  'Dale Whitcomb',
  'Eun-ji Park',
  'Fairview County Extension Office',
  'Gita Raman',
  'Harborside Manufacturers Council',
  'Anonymous',
]

/** What they say, after the subject. */
export const opinions: readonly string[] = [
  'I support the proposal as written and ask the agency to keep the effective date.',
  'The compliance schedule is too short for small businesses; two more years would be fair.',
  'Please publish the data behind the cost estimate before the comment period closes.',
  'Our members already meet this standard, and the paperwork would add nothing to safety.',
  'See attached file(s)',
  'The definition in paragraph (b) leaves out seasonal operations, which should be exempt.',
]
