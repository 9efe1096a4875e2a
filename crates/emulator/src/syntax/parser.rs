//! Module level of PTX: directives, variables with initialisers, function signatures.

use std::collections::HashMap;

use super::ast::{FunctionText, Reference, Space, Type, Unit, Variable};
use super::body;
use super::lexer::{Spanned, Token, tokens};
use crate::LoadError;

/// Parses a whole module.
///
/// # Errors
/// [`LoadError::Malformed`] for text outside the grammar, [`LoadError::Unsupported`] for a
/// directive that is not known.
pub(crate) fn parse(text: &str) -> Result<Unit, LoadError> {
    let tokens = tokens(text)?;
    check_nesting(&tokens)?;
    let mut cursor = Cursor {
        tokens: &tokens,
        at: 0,
    };
    let mut unit = Unit::default();
    let mut places = body::Places::default();
    while let Some(token) = cursor.peek() {
        match token {
            Token::Directive(".version" | ".file" | ".pragma" | ".address_size" | ".target") => {
                skip_header(&mut cursor)?;
            }
            Token::Directive(".section") => skip_section(&mut cursor)?,
            Token::Directive(_) => item(&mut cursor, &mut unit, &mut places)?,
            Token::Mark(b';') => cursor.at += 1,
            _ => return Err(cursor.expected("a directive")),
        }
    }
    places.name_lines(&mut unit);
    Ok(unit)
}

/// A position in the token list, with the small steps that every rule is made of.
/// Brackets within brackets that a module may have: each is a call of the parser's.
const MAX_NESTING: u32 = 64;

fn check_nesting(tokens: &[Spanned<'_>]) -> Result<(), LoadError> {
    let mut depth = 0u32;
    for spanned in tokens {
        match spanned.token {
            Token::Mark(b'{' | b'[' | b'(') => depth += 1,
            Token::Mark(b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            let message = format!("brackets are nested more than {MAX_NESTING} deep");
            return Err(LoadError::malformed(spanned.line, message));
        }
    }
    Ok(())
}

pub(super) struct Cursor<'a> {
    pub(super) tokens: &'a [Spanned<'a>],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|spanned| spanned.token)
    }

    pub(super) fn peek_after(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens
            .get(self.at + ahead)
            .map(|spanned| spanned.token)
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(1, |spanned| spanned.line)
    }

    pub(super) fn bump(&mut self) -> Result<Token<'a>, LoadError> {
        let token = self.peek().ok_or_else(|| self.expected("more text"))?;
        self.at += 1;
        Ok(token)
    }

    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.peek() == Some(Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_directive(&mut self, name: &str) -> bool {
        let found = self.peek() == Some(Token::Directive(name));
        self.at += usize::from(found);
        found
    }

    pub(super) fn mark(&mut self, mark: u8) -> Result<(), LoadError> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", mark as char)))
        }
    }

    pub(super) fn word(&mut self) -> Result<&'a str, LoadError> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected("a name")),
        }
    }

    pub(super) fn integer(&mut self) -> Result<i64, LoadError> {
        let negative = self.eat(b'-');
        match self.peek() {
            Some(Token::Integer(value)) => {
                self.at += 1;
                let value = value as i64;
                Ok(if negative {
                    value.wrapping_neg()
                } else {
                    value
                })
            }
            _ => Err(self.expected("an integer")),
        }
    }

    pub(super) fn expected(&self, what: &str) -> LoadError {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(Token::Word(text) | Token::Directive(text)) => format!("`{text}`"),
            Some(Token::Text(text)) => format!("\"{text}\""),
            Some(Token::Mark(mark)) => format!("`{}`", mark as char),
            Some(Token::Integer(value)) => format!("`{value}`"),
            Some(Token::Single(_) | Token::Double(_)) => "a float".to_owned(),
        };
        LoadError::malformed(self.line(), format!("expected {what}, found {found}"))
    }

    pub(super) fn unsupported(&self, what: &str) -> LoadError {
        LoadError::Unsupported {
            opcode: what.to_owned(),
            line: None,
            ptx_line: self.line(),
        }
    }
}

/// `.version 9.5`, `.target sm_90a, texmode_unified`, `.file 1 "k.cu"`: up to the line's end.
fn skip_header(cursor: &mut Cursor<'_>) -> Result<(), LoadError> {
    let line = cursor.line();
    cursor.bump()?;
    while cursor.peek().is_some() && cursor.line() == line {
        cursor.at += 1;
    }
    Ok(())
}

/// Debug sections: names of inlined functions. They hold nothing that executes.
fn skip_section(cursor: &mut Cursor<'_>) -> Result<(), LoadError> {
    while !cursor.eat(b'{') {
        cursor.bump()?;
    }
    while !cursor.eat(b'}') {
        cursor.bump()?;
    }
    Ok(())
}

/// A variable or a function, with its linkage.
fn item(
    cursor: &mut Cursor<'_>,
    unit: &mut Unit,
    places: &mut body::Places,
) -> Result<(), LoadError> {
    let mut external = false;
    loop {
        match cursor.peek() {
            Some(Token::Directive(".visible" | ".weak" | ".common")) => cursor.at += 1,
            Some(Token::Directive(".extern")) => {
                external = true;
                cursor.at += 1;
            }
            Some(Token::Directive(".entry")) => {
                cursor.at += 1;
                return function(cursor, unit, places, true);
            }
            Some(Token::Directive(".func")) => {
                cursor.at += 1;
                return function(cursor, unit, places, false);
            }
            Some(Token::Directive(name)) => {
                let Some(space) = space(name) else {
                    return Err(cursor.unsupported(name));
                };
                cursor.at += 1;
                let variables = variables(cursor, space, external)?;
                unit.variables.extend(variables);
                return cursor.mark(b';');
            }
            _ => return Err(cursor.expected("a declaration")),
        }
    }
}

pub(super) fn space(directive: &str) -> Option<Space> {
    Some(match directive {
        ".global" => Space::Global,
        ".const" => Space::Const,
        ".shared" => Space::Shared,
        ".local" => Space::Local,
        ".param" => Space::Param,
        _ => return None,
    })
}

/// `.align 4 .b8 name[16] = {...}, other`, after the space directive, up to `;`, `,)` or `)`.
pub(super) fn variables(
    cursor: &mut Cursor<'_>,
    space: Space,
    external: bool,
) -> Result<Vec<Variable>, LoadError> {
    let mut align_bytes = None;
    let mut ty = None;
    loop {
        match cursor.peek() {
            Some(Token::Directive(".align")) => {
                cursor.at += 1;
                align_bytes = Some(cursor.integer()? as u32);
            }
            Some(Token::Directive(
                ".ptr" | ".global" | ".const" | ".shared" | ".local" | ".attribute",
            )) => {
                let attribute = cursor.eat_directive(".attribute");
                if attribute {
                    return Err(cursor.unsupported(".attribute"));
                }
                cursor.at += 1;
            }
            Some(Token::Directive(name)) => {
                ty = Some(Type::parse(&name[1..]).ok_or_else(|| cursor.unsupported(name))?);
                cursor.at += 1;
            }
            _ => break,
        }
    }
    let ty = ty.ok_or_else(|| cursor.expected("a type"))?;
    let mut out = Vec::new();
    loop {
        out.push(variable(cursor, space, external, ty, align_bytes)?);
        // A parameter list is separated by the caller: its commas precede a directive.
        let more = cursor.peek() == Some(Token::Mark(b','))
            && matches!(cursor.peek_after(1), Some(Token::Word(_)));
        if !more {
            return Ok(out);
        }
        cursor.at += 1;
    }
}

fn variable(
    cursor: &mut Cursor<'_>,
    space: Space,
    external: bool,
    ty: Type,
    align_bytes: Option<u32>,
) -> Result<Variable, LoadError> {
    let name = cursor.word()?.to_owned();
    let mut count: Option<u64> = Some(1);
    let mut unsized_array = false;
    while cursor.eat(b'[') {
        if cursor.eat(b']') {
            unsized_array = true;
            count = None;
            continue;
        }
        let length = cursor.integer()? as u64;
        cursor.mark(b']')?;
        count = count.map(|count| count.saturating_mul(length));
    }
    let mut initial = Initialiser::default();
    if cursor.eat(b'=') {
        initial.value(cursor, ty)?;
    }
    let width = u64::from(ty.bytes());
    let bytes = match count {
        Some(count) => count.saturating_mul(width),
        None => initial.bytes.len() as u64,
    };
    if bytes > 1 << 40 {
        return Err(LoadError::malformed(
            cursor.line(),
            format!("`{name}` is too large"),
        ));
    }
    Ok(Variable {
        name,
        space,
        align_bytes: align_bytes.unwrap_or(ty.bytes()).max(1),
        bytes,
        dynamic: external && unsized_array && space == Space::Shared,
        init: initial.bytes,
        references: initial.references,
    })
}

#[derive(Default)]
struct Initialiser {
    bytes: Vec<u8>,
    references: Vec<Reference>,
}

impl Initialiser {
    fn value(&mut self, cursor: &mut Cursor<'_>, ty: Type) -> Result<(), LoadError> {
        if cursor.eat(b'{') {
            while !cursor.eat(b'}') {
                self.value(cursor, ty)?;
                if !cursor.eat(b',') && cursor.peek() != Some(Token::Mark(b'}')) {
                    return Err(cursor.expected("`,` or `}`"));
                }
            }
            return Ok(());
        }
        let width = ty.bytes() as usize;
        let negative = cursor.eat(b'-');
        let bits = match cursor.bump()? {
            Token::Integer(value) if negative => value.wrapping_neg(),
            Token::Integer(value) => value,
            Token::Single(bits) if ty == Type::F64 => f64::from(f32::from_bits(bits)).to_bits(),
            Token::Single(bits) => u64::from(bits),
            Token::Double(bits) if ty == Type::F32 => {
                u64::from((f64::from_bits(bits) as f32).to_bits())
            }
            Token::Double(bits) => bits,
            Token::Word(name) => return self.reference(cursor, name, width),
            _ => return Err(cursor.expected("an initial value")),
        };
        self.bytes
            .extend_from_slice(&bits.to_le_bytes()[..width.min(8)]);
        Ok(())
    }

    fn reference(
        &mut self,
        cursor: &mut Cursor<'_>,
        name: &str,
        width: usize,
    ) -> Result<(), LoadError> {
        let generic = name == "generic";
        let symbol = if generic {
            cursor.mark(b'(')?;
            let symbol = cursor.word()?;
            cursor.mark(b')')?;
            symbol
        } else {
            name
        };
        let addend = match cursor.peek() {
            Some(Token::Mark(b'+')) => {
                cursor.at += 1;
                cursor.integer()?
            }
            Some(Token::Mark(b'-')) => cursor.integer()?,
            _ => 0,
        };
        if width != 8 {
            return Err(cursor.unsupported("address in an initialiser that is not 64 bits wide"));
        }
        let offset = self.bytes.len() as u64;
        self.references.push(Reference {
            offset,
            symbol: symbol.to_owned(),
            addend,
        });
        self.bytes.extend_from_slice(&[0; 8]);
        Ok(())
    }
}

fn function(
    cursor: &mut Cursor<'_>,
    unit: &mut Unit,
    places: &mut body::Places,
    is_entry: bool,
) -> Result<(), LoadError> {
    let ptx_line = cursor.line();
    let mut function = FunctionText {
        name: String::new(),
        is_entry,
        has_body: false,
        parameters: Vec::new(),
        returns: Vec::new(),
        registers: Vec::new(),
        variables: Vec::new(),
        statements: Vec::new(),
        labels: Vec::new(),
        branch_targets: Vec::new(),
        max_threads: None,
        required_threads: None,
        required_cluster: None,
        ptx_line,
    };
    if cursor.peek() == Some(Token::Mark(b'(')) {
        function.returns = parameters(cursor)?;
    }
    function.name = cursor.word()?.to_owned();
    if cursor.peek() == Some(Token::Mark(b'(')) {
        function.parameters = parameters(cursor)?;
    }
    attributes(cursor, &mut function)?;
    if cursor.eat(b'{') {
        function.has_body = true;
        body::body(cursor, &mut function, places)?;
    } else {
        cursor.mark(b';')?;
    }
    // A declaration and its definition are one function.
    let known: HashMap<&str, usize> = unit
        .functions
        .iter()
        .enumerate()
        .map(|(at, f)| (f.name.as_str(), at))
        .collect();
    match known.get(function.name.as_str()).copied() {
        Some(at) if function.has_body => unit.functions[at] = function,
        Some(_) => {}
        None => unit.functions.push(function),
    }
    Ok(())
}

fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Variable>, LoadError> {
    cursor.mark(b'(')?;
    let mut out = Vec::new();
    while !cursor.eat(b')') {
        match cursor.bump()? {
            Token::Directive(".param") => out.extend(variables(cursor, Space::Param, false)?),
            Token::Directive(".reg") => return Err(cursor.unsupported(".reg parameter")),
            _ => {
                cursor.at -= 1;
                return Err(cursor.expected("`.param`"));
            }
        }
        cursor.eat(b',');
    }
    Ok(out)
}

fn attributes(cursor: &mut Cursor<'_>, function: &mut FunctionText) -> Result<(), LoadError> {
    loop {
        match cursor.peek() {
            Some(Token::Directive(name @ (".maxntid" | ".reqntid" | ".reqnctapercluster"))) => {
                cursor.at += 1;
                let mut extents = [1u32; 3];
                for (axis, extent) in extents.iter_mut().enumerate() {
                    if axis > 0 && !cursor.eat(b',') {
                        break;
                    }
                    *extent = cursor.integer()? as u32;
                }
                match name {
                    ".maxntid" => {
                        function.max_threads = Some(
                            extents
                                .iter()
                                .fold(1u32, |all, &extent| all.saturating_mul(extent)),
                        );
                    }
                    ".reqntid" => function.required_threads = Some(extents),
                    _ => function.required_cluster = Some(extents),
                }
            }
            Some(Token::Directive(
                ".minnctapersm" | ".maxnreg" | ".maxnctapersm" | ".maxclusterrank",
            )) => {
                cursor.at += 1;
                cursor.integer()?;
            }
            Some(Token::Directive(".noreturn" | ".explicitcluster")) => cursor.at += 1,
            Some(Token::Directive(".pragma")) => {
                while !cursor.eat(b';') {
                    cursor.bump()?;
                }
            }
            Some(Token::Directive(name)) => return Err(cursor.unsupported(name)),
            _ => return Ok(()),
        }
    }
}
