import type { Channel } from './query-understanding.ts'

/** Words that speak to one channel, and what to look for there where the words themselves would not be found. */
export interface Flavour {
  readonly channel: Channel
  readonly said: readonly string[]
  readonly seeks?: string
}

/** What queries say about mood, occasion, way of telling, making and reception. */
export const flavours: readonly Flavour[] = [
  flavour('viewer_experience', 'funny|hilarious|laugh|witty|silly', 'funny hilarious light hearted laugh'),
  flavour(
    'viewer_experience',
    'scary|frightening|creepy|terrifying|spooky',
    'scary frightening creepy terrifying',
  ),
  flavour(
    'viewer_experience',
    'sad|moving|emotional|tear jerker|heartbreaking|depressing',
    'serious moving emotional sad',
  ),
  flavour(
    'viewer_experience',
    'exciting|thrilling|fast paced|explosive|adrenaline',
    'exciting fast explosive thrilling',
  ),
  flavour(
    'viewer_experience',
    'tense|gripping|suspenseful|dark|edge of my seat',
    'tense suspenseful gripping dark',
  ),
  flavour(
    'viewer_experience',
    'feel good|uplifting|cheerful|heart warming|heartwarming',
    'uplifting joyful warm feel good',
  ),
  flavour('viewer_experience', 'romantic|sweet|charming', 'romantic sweet tender charming'),
  flavour(
    'viewer_experience',
    'thought provoking|mind bending|clever|smart',
    'thought provoking imaginative informative',
  ),
  flavour(
    'watch_context',
    'for kids|for children|for the kids|with kids|with my kids|family friendly',
    'for children and the whole family',
  ),
  flavour(
    'watch_context',
    'family night|movie night|for the whole family',
    'for children and the whole family',
  ),
  flavour('watch_context', 'date night|first date|valentine|valentines', 'date night for couples'),
  flavour('watch_context', 'party|with friends|friends', 'a party with friends'),
  flavour('watch_context', 'halloween|late at night|midnight', 'late at night for adults'),
  flavour('watch_context', 'long flight|rainy|sunday|weekend', 'a long rainy weekend'),
  flavour('watch_context', 'lunch break|quick|after work', 'short for an evening after work'),
  flavour(
    'narrative_techniques',
    'true story|real life|real events|based on real|biopic|biography',
    'based on real life events true story',
  ),
  flavour(
    'narrative_techniques',
    'based on a book|based on a novel|novel|book|adaptation|adapted',
    'based on book short story adaptation',
  ),
  flavour('narrative_techniques', 'remake|remakes|reboot', 'remake of an earlier film'),
  flavour('narrative_techniques', 'comic|comics|graphic novel', 'based on comic graphic novel'),
  flavour('narrative_techniques', 'video game|game', 'based on game'),
  flavour('narrative_techniques', 'based on a play|stage play', 'based on play'),
  flavour('narrative_techniques', 'fairy tale|fairytale|legend|myth', 'traditional legend fairytale'),
  flavour('production', 'big budget|expensive|blockbuster|blockbusters', 'very expensive big budget'),
  flavour('production', 'low budget|independent|indie|cheap', 'low budget independent'),
  flavour(
    'reception',
    'acclaimed|award winning|oscar|oscars|masterpiece|masterpieces',
    'loved by critics acclaimed masterpiece',
  ),
  flavour('reception', 'critics|reviews|reviewed|rated', 'loved by critics acclaimed well rated'),
  flavour('reception', 'best|greatest|top|great|good', 'loved by critics well rated by viewers'),
  flavour('reception', 'worst|terrible|awful|bad|panned', 'panned by critics badly rated'),
  flavour('reception', 'flop|flops|box office bomb|failure', 'lost money flop'),
  flavour('reception', 'hit|hits|box office|blockbuster|blockbusters', 'earned very much hit'),
  flavour(
    'reception',
    'cult|underrated|overlooked|hidden gem|hidden gems',
    'few votes overlooked well rated',
  ),
]

function flavour(channel: Channel, said: string, seeks: string): Flavour {
  return { channel, said: said.split('|'), seeks }
}
