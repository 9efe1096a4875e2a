//! Function bodies: scopes, register families, labels, operands and source lines.
//!
//! Inline assembly opens scopes of its own whose names may repeat, so registers, variables and
//! labels are resolved here, innermost scope first.

use std::collections::HashMap;

use super::ast::{FunctionText, Operand, RegisterId, Space, Statement, Type, Unit};
use super::lexer::Token;
use super::parser::{Cursor, space, variables};
use crate::LoadError;

pub(super) fn body(
    cursor: &mut Cursor<'_>,
    function: &mut FunctionText,
    places: &mut Places,
) -> Result<(), LoadError> {
    let mut body = Body {
        cursor,
        function,
        places,
        scopes: vec![Scope::default()],
        open: vec![0],
        jumps: Vec::new(),
        place: 0,
    };
    body.statements()?;
    body.resolve_labels()
}

/// Source positions of statements, kept until the user's own file is known.
///
/// A statement's position is a chain: where it stands, then where that was inlined, outwards.
#[derive(Default)]
pub(super) struct Places {
    chains: Vec<Chain>,
    /// Place of each statement, by function name.
    of_statements: HashMap<String, Vec<u32>>,
    user_file: Option<u32>,
}

impl Places {
    /// Writes each statement's line in the user's file: the file in which the first kernel opens.
    pub(super) fn name_lines(&self, unit: &mut Unit) {
        let Some(user_file) = self.user_file else {
            return;
        };
        for function in &mut unit.functions {
            let Some(places) = self.of_statements.get(&function.name) else {
                continue;
            };
            let mut last = None;
            for (statement, &place) in function.statements.iter_mut().zip(places) {
                let chain = place
                    .checked_sub(1)
                    .map(|at| self.chains[at as usize].as_slice());
                let line = chain
                    .and_then(|chain| chain.iter().find(|&&(file, l)| file == user_file && l > 0));
                // Line 0 marks code that belongs to no statement: it keeps the last one.
                last = line.map(|&(_, line)| line).or(last);
                statement.line = last;
            }
        }
    }
}

#[derive(Default)]
struct Scope {
    parent: usize,
    names: HashMap<String, Binding>,
    /// `%r<10>`: prefix, first register, count.
    families: Vec<(String, RegisterId, u32)>,
    labels: HashMap<String, usize>,
}

/// File, line and column.
type Position = (u32, u32, u32);
/// File and line of a place, then of where it was inlined, outwards.
type Chain = Vec<(u32, u32)>;

#[derive(Clone)]
enum Binding {
    Register(RegisterId),
    Variable(String),
}

/// A label named before it may be declared.
struct Jump {
    scope: usize,
    name: String,
    line: u32,
    site: Site,
}

enum Site {
    Statement(usize, usize),
    Table(usize, usize),
}

struct Body<'a, 'c, 'f> {
    cursor: &'c mut Cursor<'a>,
    function: &'f mut FunctionText,
    places: &'f mut Places,
    scopes: Vec<Scope>,
    open: Vec<usize>,
    jumps: Vec<Jump>,
    place: u32,
}

impl Body<'_, '_, '_> {
    fn scope(&self) -> usize {
        *self
            .open
            .last()
            .expect("the function's own scope stays open until its end")
    }

    fn statements(&mut self) -> Result<(), LoadError> {
        let mut inlined = HashMap::new();
        while !self.open.is_empty() {
            match self.cursor.bump()? {
                Token::Mark(b'{') => {
                    let parent = self.scope();
                    self.open.push(self.scopes.len());
                    self.scopes.push(Scope {
                        parent,
                        ..Scope::default()
                    });
                }
                Token::Mark(b'}') => {
                    self.open.pop();
                }
                Token::Mark(b';') => {}
                Token::Directive(".loc") => self.place(&mut inlined)?,
                Token::Directive(".reg") => self.registers()?,
                Token::Directive(".pragma") => self.skip_statement()?,
                Token::Directive(name) => self.variable(name)?,
                Token::Word(label) if self.cursor.peek() == Some(Token::Mark(b':')) => {
                    self.cursor.at += 1;
                    self.label(label)?;
                }
                Token::Word(_) | Token::Mark(b'@') => {
                    self.cursor.at -= 1;
                    self.instruction()?;
                }
                _ => {
                    self.cursor.at -= 1;
                    return Err(self.cursor.expected("a statement"));
                }
            }
        }
        Ok(())
    }

    fn skip_statement(&mut self) -> Result<(), LoadError> {
        while !self.cursor.eat(b';') {
            self.cursor.bump()?;
        }
        Ok(())
    }

    /// `.loc file line column[, function_name label[+n], inlined_at file line column]`
    fn place(&mut self, inlined: &mut HashMap<Position, Chain>) -> Result<(), LoadError> {
        let position = self.position()?;
        let mut chain = vec![(position.0, position.1)];
        if self.cursor.peek() == Some(Token::Mark(b',')) {
            self.cursor.at += 1;
            if self.cursor.peek() == Some(Token::Word("function_name")) {
                self.cursor.at += 1;
                self.cursor.word()?;
                if self.cursor.eat(b'+') {
                    self.cursor.integer()?;
                }
                self.cursor.mark(b',')?;
            }
            if self.cursor.word()? != "inlined_at" {
                return Err(self.cursor.expected("`inlined_at`"));
            }
            let caller = self.position()?;
            match inlined.get(&caller) {
                Some(rest) => chain.extend_from_slice(rest),
                None => chain.push((caller.0, caller.1)),
            }
            inlined.insert(position, chain.clone());
        }
        if self.function.is_entry && self.places.user_file.is_none() {
            self.places.user_file = chain.last().map(|&(file, _)| file);
        }
        self.places.chains.push(chain);
        self.place = self.places.chains.len() as u32;
        Ok(())
    }

    fn position(&mut self) -> Result<Position, LoadError> {
        let file = self.cursor.integer()? as u32;
        let line = self.cursor.integer()? as u32;
        let column = self.cursor.integer()? as u32;
        Ok((file, line, column))
    }

    fn registers(&mut self) -> Result<(), LoadError> {
        let ty = match self.cursor.bump()? {
            Token::Directive(name) => {
                Type::parse(&name[1..]).ok_or_else(|| self.cursor.unsupported(name))?
            }
            _ => return Err(self.cursor.expected("a register type")),
        };
        let scope = self.scope();
        loop {
            let name = self.cursor.word()?.to_owned();
            let first = self.function.registers.len() as RegisterId;
            if self.cursor.eat(b'<') {
                let count = self.cursor.integer()? as u32;
                self.cursor.mark(b'>')?;
                let total = self.function.registers.len() + count as usize;
                // All of them together: slots are numbered in 22 bits.
                if total > 1 << 20 {
                    return Err(self.cursor.unsupported("more than 2^20 registers"));
                }
                self.function.registers.resize(total, ty);
                self.scopes[scope].families.push((name, first, count));
            } else {
                if first >= 1 << 20 {
                    return Err(self.cursor.unsupported("more than 2^20 registers"));
                }
                self.function.registers.push(ty);
                self.scopes[scope]
                    .names
                    .insert(name, Binding::Register(first));
            }
            if !self.cursor.eat(b',') {
                return self.cursor.mark(b';');
            }
        }
    }

    fn variable(&mut self, directive: &str) -> Result<(), LoadError> {
        let Some(space @ (Space::Shared | Space::Local | Space::Param)) = space(directive) else {
            return Err(self.cursor.unsupported(directive));
        };
        let declared = variables(self.cursor, space, false)?;
        self.cursor.mark(b';')?;
        let scope = self.scope();
        for mut variable in declared {
            let name = variable.name.clone();
            if self
                .function
                .variables
                .iter()
                .any(|other| other.name == name)
            {
                variable.name = format!("{name}#{}", self.function.variables.len());
            }
            let unique = variable.name.clone();
            self.scopes[scope]
                .names
                .insert(name, Binding::Variable(unique));
            self.function.variables.push(variable);
        }
        Ok(())
    }

    fn label(&mut self, name: &str) -> Result<(), LoadError> {
        if self.cursor.eat_directive(".branchtargets") {
            return self.branch_targets(name);
        }
        if let Some(Token::Directive(".callprototype" | ".calltargets")) = self.cursor.peek() {
            // An indirect call finds its callee's parameters where it is declared.
            return self.skip_statement();
        }
        let id = self.function.labels.len();
        self.function.labels.push(self.function.statements.len());
        let scope = self.scope();
        self.scopes[scope].labels.insert(name.to_owned(), id);
        Ok(())
    }

    fn branch_targets(&mut self, name: &str) -> Result<(), LoadError> {
        let table = self.function.branch_targets.len();
        let mut targets = Vec::new();
        loop {
            let label = self.cursor.word()?;
            self.jump(label, Site::Table(table, targets.len()));
            targets.push(usize::MAX);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.function
            .branch_targets
            .push((name.to_owned(), targets));
        self.cursor.mark(b';')
    }

    fn jump(&mut self, name: &str, site: Site) {
        let (scope, line) = (self.scope(), self.cursor.line());
        self.jumps.push(Jump {
            scope,
            name: name.to_owned(),
            line,
            site,
        });
    }

    fn resolve_labels(&mut self) -> Result<(), LoadError> {
        for jump in std::mem::take(&mut self.jumps) {
            let id = self.find(jump.scope, |scope| scope.labels.get(&jump.name).copied());
            let id = id.ok_or_else(|| {
                LoadError::malformed(jump.line, format!("label `{}` is not declared", jump.name))
            })?;
            match jump.site {
                Site::Statement(statement, operand) => {
                    self.function.statements[statement].operands[operand] = Operand::Label(id);
                }
                Site::Table(table, entry) => self.function.branch_targets[table].1[entry] = id,
            }
        }
        Ok(())
    }

    fn find<T>(&self, mut scope: usize, look: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        loop {
            if let Some(found) = look(&self.scopes[scope]) {
                return Some(found);
            }
            if scope == 0 {
                return None;
            }
            scope = self.scopes[scope].parent;
        }
    }

    fn instruction(&mut self) -> Result<(), LoadError> {
        let ptx_line = self.cursor.line();
        let mut guard = None;
        if self.cursor.eat(b'@') {
            let negated = self.cursor.eat(b'!');
            let name = self.cursor.word()?;
            guard = Some((self.register(name)?, negated));
        }
        let opcode = self.cursor.word()?.to_owned();
        let is_branch = opcode == "bra" || opcode.starts_with("bra.");
        let mut operands = Vec::new();
        if is_branch {
            let label = self.cursor.word()?;
            self.jump(label, Site::Statement(self.function.statements.len(), 0));
            operands.push(Operand::Sink);
        } else if self.cursor.peek() != Some(Token::Mark(b';')) {
            loop {
                operands.push(self.operand(&opcode)?);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
        }
        self.cursor.mark(b';')?;
        self.function.statements.push(Statement {
            guard,
            opcode,
            operands,
            ptx_line,
            line: None,
        });
        let places = self
            .places
            .of_statements
            .entry(self.function.name.clone())
            .or_default();
        places.push(self.place);
        Ok(())
    }

    fn register(&self, name: &str) -> Result<RegisterId, LoadError> {
        match self.lookup(name) {
            Some(Binding::Register(id)) => Ok(id),
            _ => Err(self
                .cursor
                .expected(&format!("a declared register, not `{name}`"))),
        }
    }

    fn lookup(&self, name: &str) -> Option<Binding> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        let number: Option<u32> = number.parse().ok();
        self.find(self.scope(), |scope| {
            if let Some(binding) = scope.names.get(name) {
                return Some(binding.clone());
            }
            let number = number?;
            let family = scope
                .families
                .iter()
                .find(|(family, _, count)| family == prefix && number < *count)?;
            Some(Binding::Register(family.1 + number))
        })
    }

    fn operand(&mut self, opcode: &str) -> Result<Operand, LoadError> {
        let first = self.single_operand(opcode)?;
        if self.cursor.eat(b'|') {
            let second = self.single_operand(opcode)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single_operand(&mut self, opcode: &str) -> Result<Operand, LoadError> {
        match self.cursor.peek() {
            Some(Token::Mark(b'{')) => {
                self.cursor.at += 1;
                Ok(Operand::Vector(self.operands_until(opcode, b'}')?))
            }
            Some(Token::Mark(b'(')) => {
                self.cursor.at += 1;
                Ok(Operand::List(self.operands_until(opcode, b')')?))
            }
            Some(Token::Mark(b'[')) => self.address(opcode),
            Some(Token::Mark(b'!')) => {
                self.cursor.at += 1;
                let name = self.cursor.word()?;
                Ok(Operand::NotRegister(self.register(name)?))
            }
            Some(Token::Mark(b'-') | Token::Integer(_)) => {
                Ok(Operand::Integer(self.cursor.integer()?))
            }
            Some(Token::Single(bits)) => {
                self.cursor.at += 1;
                Ok(Operand::Single(bits))
            }
            Some(Token::Double(bits)) => {
                self.cursor.at += 1;
                Ok(Operand::Double(bits))
            }
            Some(Token::Word(name)) => {
                self.cursor.at += 1;
                match self.named(name) {
                    Operand::Symbol(name, 0) if self.cursor.eat(b'+') => {
                        Ok(Operand::Symbol(name, self.cursor.integer()?))
                    }
                    operand => Ok(operand),
                }
            }
            _ => Err(self.cursor.expected("an operand")),
        }
    }

    fn named(&self, name: &str) -> Operand {
        if name == "_" {
            return Operand::Sink;
        }
        match self.lookup(name) {
            Some(Binding::Register(id)) => Operand::Register(id),
            Some(Binding::Variable(unique)) => Operand::Symbol(unique, 0),
            None if name.starts_with('%') => Operand::Special(name.to_owned()),
            None => Operand::Symbol(name.to_owned(), 0),
        }
    }

    fn operands_until(&mut self, opcode: &str, close: u8) -> Result<Vec<Operand>, LoadError> {
        let mut out = Vec::new();
        while !self.cursor.eat(close) {
            out.push(self.operand(opcode)?);
            if !self.cursor.eat(b',') && self.cursor.peek() != Some(Token::Mark(close)) {
                return Err(self.cursor.expected("`,`"));
            }
        }
        Ok(out)
    }

    fn address(&mut self, opcode: &str) -> Result<Operand, LoadError> {
        self.cursor.mark(b'[')?;
        let base = self.single_operand(opcode)?;
        let mut offset = 0;
        if self.cursor.eat(b'+') || self.cursor.peek() == Some(Token::Mark(b'-')) {
            offset = self.cursor.integer()?;
        }
        let coordinates = if self.cursor.eat(b',') {
            self.cursor.mark(b'{')?;
            Some(self.operands_until(opcode, b'}')?)
        } else {
            None
        };
        if !self.cursor.eat(b']') {
            return Err(self.cursor.unsupported(opcode));
        }
        let (base, offset) = match base {
            Operand::Symbol(name, at) => (Operand::Symbol(name, at + offset), 0),
            other => (other, offset),
        };
        let address = Operand::Address(Box::new(base), offset);
        Ok(match coordinates {
            Some(coordinates) => Operand::Tile(Box::new(address), coordinates),
            None => address,
        })
    }
}
