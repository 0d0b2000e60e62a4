/** What a genre is called in queries, what it deals with, and how watching it feels. */
export interface Genre {
  readonly name: string
  readonly said: readonly string[]
  readonly themes: string
  readonly feels: string
}

/** The genres of the catalogue. */
export const genres: readonly Genre[] = [
  genre(
    'Drama',
    'drama dramas dramatic',
    'family love loss conflict character',
    'serious moving emotional sad',
  ),
  genre(
    'Comedy',
    'comedy comedies comic',
    'mistakes friendship embarrassment',
    'funny hilarious light hearted laugh',
  ),
  genre(
    'Black Comedy',
    'black comedy|dark comedy|satire',
    'crime death satire cynicism',
    'darkly funny bitter ironic',
  ),
  genre('Action', 'action', 'fights chases guns heroes revenge', 'exciting fast explosive adrenaline'),
  genre(
    'Adventure',
    'adventure adventures',
    'journey quest treasure discovery',
    'thrilling exciting spectacular fun',
  ),
  genre(
    'Thriller',
    'thriller thrillers suspense',
    'murder crime conspiracy secret danger',
    'tense suspenseful gripping dark',
  ),
  genre(
    'Horror',
    'horror slasher',
    'monster ghost killer fear death',
    'scary frightening creepy terrifying gory',
  ),
  genre(
    'Romance',
    'romance romances romantic',
    'love couple marriage heartbreak',
    'romantic sweet tender charming',
  ),
  genre('Musical', 'musical musicals', 'music song dance stage fame', 'uplifting joyful catchy feel good'),
  genre(
    'Documentary',
    'documentary documentaries',
    'reality history politics nature society',
    'informative thought provoking',
  ),
  genre('Western', 'western westerns', 'cowboy frontier outlaw sheriff justice', 'rugged slow violent epic'),
  genre('Concert', 'concert concerts', 'music band stage performance', 'loud energetic joyful'),
  genre(
    'Science Fiction',
    'science fiction|sci fi|scifi',
    'space future robots aliens technology',
    'imaginative wondrous',
  ),
  genre('Fantasy', 'fantasy fantasies', 'magic myth dragon supernatural', 'magical wondrous enchanting'),
  genre(
    'History',
    'historical|history|period piece|costume drama',
    'war empire king past century',
    'epic stately serious',
  ),
  genre(
    'Family',
    'family|kids|children|childrens',
    'childhood animals growing up friendship',
    'gentle cheerful warm fun',
  ),
  genre(
    'Superhero',
    'superhero|superheroes|super hero|comic book',
    'hero powers villain city',
    'exciting spectacular heroic',
  ),
]

function genre(name: string, said: string, themes: string, feels: string): Genre {
  return { name, said: said.includes('|') ? said.split('|') : said.split(' '), themes, feels }
}
