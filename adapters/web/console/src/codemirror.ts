// A file of its own: loaded when the first document is shown, not before.
import { Decoration, DecorationSet, EditorView, GutterMarker, gutter, keymap, lineNumbers, highlightActiveLine, drawSelection } from '@codemirror/view';
import { EditorState, Annotation, StateEffect, StateField } from '@codemirror/state';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { linter, lintGutter } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { HighlightStyle, bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { tags as t } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: t.propertyName, color: 'var(--code-name)' }, { tag: t.string, color: 'var(--code-text)' },
  { tag: [t.number, t.bool, t.null], color: 'var(--code-value)' },
]);
/** Lines that a class marks, until the text changes. */
export type Stretch = { class: string; from: number; to: number };
const mark = StateEffect.define<Stretch[]>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(now, tr) {
    if (tr.docChanged) now = Decoration.none;
    for (const e of tr.effects) if (e.is(mark)) now = Decoration.set(e.value.flatMap(s => {
      const to = Math.min(s.to, tr.state.doc.lines);
      return Array.from({ length: Math.max(0, to - s.from + 1) }, (_, i) => Decoration.line({ class: s.class }).range(tr.state.doc.line(s.from + i).from));
    }), true);
    return now;
  },
  provide: f => EditorView.decorations.from(f),
});
/** A sign beside a line that is marked: not the colour alone tells it. Those who listen get the same in words below the editor. */
class Sign extends GutterMarker {
  constructor(private of: string, private sign: string, private title: string) { super(); }
  toDOM() { const e = document.createElement('span'); e.className = 'sign ' + this.of; e.textContent = this.sign; e.title = this.title; return e; }
}
const signs: Record<string, Sign> = { ran: new Sign('ran', '✓', 'Evaluated'), missed: new Sign('missed', '✗', 'Not evaluated as a whole') };
const beside = gutter({
  class: 'cm-signs',
  lineMarker: (v, line) => { let found: Sign | null = null; v.state.field(marked).between(line.from, line.from, (_a, _b, d) => { found = signs[d.spec.class]; }); return found; },
  lineMarkerChange: u => u.docChanged || u.transactions.some(x => x.effects.some(e => e.is(mark))),
});
const outside = Annotation.define<boolean>(), short = 300_000;

export function open(parent: HTMLElement, text: string, o: { language: string; label: string; readOnly?: boolean; changed?: (text: string) => void }) {
  const nonce = (document.querySelector('meta[name=csp-nonce]') as HTMLElement | null)?.nonce ?? '';
  let timer = 0;
  const tell = () => { clearTimeout(timer); timer = 0; o.changed?.(view.state.doc.toString()); }, settle = () => { if (timer) tell(); return false; };
  const view: EditorView = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [EditorView.cspNonce.of(nonce), marked, o.language === 'rego' ? beside : [], lineNumbers(), codeFolding(), foldGutter(), history(), drawSelection(), bracketMatching(), indentOnInput(), highlightActiveLine(), highlightSelectionMatches(),
        o.language === 'json' ? json() : [], o.language === 'json' && text.length < short ? [linter(jsonParseLinter()), lintGutter()] : [],
        syntaxHighlighting(colours), keymap.of([{ key: 'Mod-s', run: settle }, ...searchKeymap, ...foldKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorState.readOnly.of(!!o.readOnly), EditorView.contentAttributes.of({ 'aria-label': o.label, tabindex: '0' }), text.length < short ? EditorView.lineWrapping : [],
        // A large document is handed over when the writer pauses, saves or leaves: typing comes first.
        EditorView.domEventHandlers({ blur: settle }),
        EditorView.updateListener.of(u => {
          if (!u.docChanged || u.transactions.some(x => x.annotation(outside))) return;
          if (u.state.doc.length < 50_000) { tell(); return; }
          clearTimeout(timer);
          timer = window.setTimeout(tell, 250);
        })],
    }),
  });
  return {
    go(line: number) {
      const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
    mark(lines: Stretch[]) { view.dispatch({ effects: mark.of(lines) }); },
    destroy() { clearTimeout(timer); view.destroy(); },
    show(next: string) {
      if (timer) return; // what is being written comes first, and is handed over in a moment
      const now = view.state.doc.toString();
      if (now === next) return;
      let from = 0, a = now.length, b = next.length;
      while (from < a && from < b && now[from] === next[from]) from++;
      while (a > from && b > from && now[a - 1] === next[b - 1]) { a--; b--; }
      view.dispatch({ changes: { from, to: a, insert: next.slice(from, b) }, annotations: outside.of(true) });
    },
  };
}
