import { useEffect, useRef, useState } from 'preact/hooks';
import type { Stretch } from './codemirror';

type Props = { text: string; language?: 'json' | 'yaml' | 'rego'; label: string; readOnly?: boolean; marks?: Stretch[]; go?: { line: number }; onChange?: (text: string) => void };

/** A text with colours, folding and search. Where the editor cannot be loaded a plain field does. */
export function Editor(p: Props) {
  const at = useRef<HTMLDivElement>(null), view = useRef<{ show(t: string): void; mark(l: Stretch[]): void; go(line: number): void; destroy(): void }>(), change = useRef(p.onChange), latest = useRef(p.text), [plain, setPlain] = useState(false);
  change.current = p.onChange; latest.current = p.text;
  useEffect(() => {
    let gone = false;
    import('./codemirror').then(m => {
      if (gone || !at.current) return;
      view.current = m.open(at.current, latest.current, { language: p.language ?? 'json', label: p.label, readOnly: p.readOnly, changed: t => change.current?.(t) });
    }, () => setPlain(true));
    return () => { gone = true; view.current?.destroy(); view.current = undefined; };
  }, [p.language]);
  useEffect(() => { view.current?.show(p.text); }, [p.text]);
  useEffect(() => { view.current?.mark(p.marks ?? []); }, [p.marks]);
  useEffect(() => { if (p.go) view.current?.go(p.go.line); }, [p.go]);
  if (plain) return <textarea class="plain-editor" aria-label={p.label} readOnly={p.readOnly} rows={24} spellcheck={false} value={p.text} onInput={(e: any) => p.onChange?.(e.target.value)} />;
  return <div class="editor" ref={at} />;
}

/** A document as JSON or YAML. While the YAML cannot be read the document stays as it was. */
export function DocumentEditor(p: { text: string; onChange: (t: string) => void; label: string }) {
  const [language, setLanguage] = useState<'json' | 'yaml'>('json'), [yaml, setYAML] = useState(''), [fault, setFault] = useState(''), made = useRef('');
  const asYAML = async () => {
    const m = await import('./yaml');
    try { setYAML(m.toYAML(p.text)); setFault(''); made.current = p.text; setLanguage('yaml'); } catch (e) { setFault(`This JSON cannot be read: ${(e as Error).message}`); }
  };
  useEffect(() => { if (language === 'yaml' && p.text !== made.current) asYAML(); }, [p.text]);
  const write = async (t: string) => {
    setYAML(t);
    const m = await import('./yaml');
    try { const j = m.toJSON(t); made.current = j; setFault(''); p.onChange(j); } catch (e) { setFault(`This YAML cannot be read: ${(e as Error).message}. The document is as it was before.`); }
  };
  return <div class="document">
    <div class="bar" role="group" aria-label="Language of the document"><button type="button" aria-pressed={language === 'json'} onClick={() => setLanguage('json')}>JSON</button><button type="button" aria-pressed={language === 'yaml'} onClick={asYAML}>YAML</button>
      <span class="soft">Ctrl-F searches inside</span></div>
    {fault && <p role="alert" class="wrong">{fault}</p>}
    <Editor key={language} language={language} label={p.label} text={language === 'yaml' ? yaml : p.text} onChange={language === 'yaml' ? write : p.onChange} />
  </div>;
}
