import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { visible } from '../../src/domain/visible.ts'

describe('what people do not see', () => {
  test.each([
    ['bidirectional overrides', 'a\u202eb', 'a\\u202eb'],
    ['isolates', '\u2066admin\u2069', '\\u2066admin\\u2069'],
    ['marks of direction', 'a\u200eb\u200fc\u061cd', 'a\\u200eb\\u200fc\\u061cd'],
    ['spaces without width', 'a\u200bb\u2060c\ufeffd', 'a\\u200bb\\u2060c\\ufeffd'],
    ['soft hyphens', 'co\u00adop', 'co\\u00adop'],
    ['fillers', '\u3164\u115f\u1160\uffa0', '\\u3164\\u115f\\u1160\\uffa0'],
    ['blank Braille', 'a\u2800b', 'a\\u2800b'],
    ['tags', 'hi\u{e0041}\u{e007f}', 'hi\\u{e0041}\\u{e007f}'],
    ['variation selectors', 'x\ufe0f\ufe00 y\u{e0100}\u{e01ef}', 'x\\ufe0f\\ufe00 y\\u{e0100}\\u{e01ef}'],
    ['joiners between other letters', 'pay\u200dpal a\u200cb', 'pay\\u200dpal a\\u200cb'],
    ['control characters', 'a\u001b[2Jb\u0000\u0085', 'a\\u001b[2Jb\\u0000\\u0085'],
    ['separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['invisible operators', '2\u2062x', '2\\u2062x'],
    ['private and unassigned characters', '\ue000\uffff\u{e0fff}', '\\ue000\\uffff\\u{e0fff}'],
    ['halves of characters', '\ud800x', '\\ud800x'],
    ['selectors of Mongolian elsewhere', 'a\u180bb\u180ec', 'a\\u180bb\\u180ec'],
  ])('is escaped: %s', (_, text, expected) => {
    expect(visible(text)).toBe(expected)
  })

  test('is escaped in names and values at any depth', () => {
    const value = { 'na\u202eme': ['a\u200bb', { deep: '\u2066', count: 1, none: null, is: true }] }
    expect(visible(value)).toEqual({
      'na\\u202eme': ['a\\u200bb', { deep: '\\u2066', count: 1, none: null, is: true }],
    })
  })

  test.each([
    ['a second selector after an emoji', '❤️\ufe0f', '❤️\\ufe0f'],
    ['many selectors after an emoji', '😀\u{e0100}\u{e0141}', '😀\\u{e0100}\\u{e0141}'],
    ['a joiner at the end of an emoji', '😀\u200d', '😀\\u200d'],
    ['a joiner between emoji that are not one', '😀\u200d😀', '😀\\u200d😀'],
    ['a flag that does not exist', '🏴\u{e0078}\u{e0079}\u{e007f}', '🏴\\u{e0078}\\u{e0079}\\u{e007f}'],
    ['a selector after a digit that is no keycap', '1\ufe0f0', '1\\ufe0f0'],
    ['a second joiner in Persian', 'می\u200c\u200cخواهم', 'می\\u200c\\u200cخواهم'],
    ['a joiner before a space', 'می\u200c خواهم', 'می\\u200c خواهم'],
    ['a second joiner in Hindi', 'क्\u200d\u200dष', 'क्\u200d\\u200dष'],
    ['a joiner without a virama', 'क\u200dष', 'क\\u200dष'],
    ['a second selector of an ideograph', '葛\u{e0100}\u{e0101}', '葛\u{e0100}\\u{e0101}'],
    ['rare selectors of an ideograph', '葛\u{e01ef}', '葛\\u{e01ef}'],
  ])('cannot pass as writing: %s', (_, text, expected) => {
    expect(visible(text)).toBe(expected)
  })
})

describe('what writing needs stays', () => {
  test.each([
    ['Persian', 'می‌خواهم کتاب‌هایم را به خانه‌ها ببرم؛ سال ۱۴۰۴ه‍.ش، ۱۰‌ها'],
    ['Urdu', 'اُردُو زبان کا یہ ‏'.replace('\u200f', '')],
    ['Arabic with signs', 'قَالَ اللَّهُ ۝ ١٢ \u0600١٢٣'],
    ['Hebrew', 'שָׁלוֹם עוֹלָם'],
    ['Hindi', 'क्‍षत्रिय, श्रीमान् क्‌ष, हिन्दी में कार्य'],
    ['Marathi', 'दर्‍या, सुर्‍या'],
    ['Bengali', 'র‍্যাব, অ্যাপ, হাত্‌ড়া'],
    ['Malayalam', 'അവന്‍, കാല്‍, നിങ്ങള്‍ക്ക്'],
    ['Sinhala', 'ශ්‍රී ලංකා, ක්‍රීඩා'],
    ['Kannada', 'ಸರ‍್ಕಾರ, ರಾಜ್‌ಕುಮಾರ್'],
    ['Tamil', 'க்‌ஷ, தமிழ்'],
    ['Mongolian', 'ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠌, ᠬᠠᠭᠠᠨ\u180eᠠ'],
    ['Japanese', '葛\u{e0100}城市と辻\u{e0101}さん、ｶﾞｷﾞ'],
    ['Korean', '한국어, 옛한글 ᄒᆞᆫ'],
    ['Thai', 'ภาษาไทยไม่มีช่องว่าง'],
    ['French', 'Voilà : « l’œuvre » à 10 %'],
    ['Vietnamese', 'Tiếng Việt, cả hai dạng e\u0302\u0301'],
    ['Braille', '⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙'],
    ['code', 'if (a < b) {\n\treturn `x`\r\n}'],
    ['families and couples', '👨‍👩‍👧‍👦 👩‍❤️‍💋‍👨 👩🏽‍🤝‍👩🏻'],
    ['professions', '🧑🏽‍🚀 👩‍⚕️ 🕵🏻‍♂️ 🏃‍➡️ 🧑‍🦽‍➡️'],
    ['other joined emoji', '🏳️‍🌈 🏴‍☠️ ❤️‍🔥 🐦‍⬛ 🙂‍↔️ ⛓️‍💥'],
    ['joined emoji without selectors', '👁‍🗨 🏳‍🌈 🕵‍♀'],
    ['flags', '🇩🇪🇯🇵 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['keycaps', '1️⃣ #️⃣ *️⃣ 0⃣'],
    ['emoji by selector, and text by selector', '❤️ ☎︎ ©️ ™ ⭐️ ☕️ ✈︎ ☺️'],
  ])('%s', (_, text) => {
    expect(visible(text)).toBe(text)
    expect(visible(`x${text}y`)).toBe(`x${text}y`)
  })
})

test('is the same for what is visible already', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const shown = visible(value)
      expect(visible(shown)).toEqual(shown)
      expect(JSON.stringify(shown)).not.toMatch(/[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/)
    }),
  )
})
