//! Values by number in a sorted list: the tables of a plan are short and written once, and a list takes a fraction of the
//! code of a search tree, which the page would carry once for every type.

use super::order;

/// Values by number, in the order of the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<V>(Vec<(u32, V)>);

impl<V> Table<V> {
    /// Of no number.
    pub const fn none() -> Self {
        Self(Vec::new())
    }
    /// Of numbers in any order, each of them once.
    pub fn of(list: impl IntoIterator<Item = (u32, V)>) -> Self {
        let mut list: Vec<(u32, V)> = list.into_iter().collect();
        order::sort_few_by(&mut list, |a, b| a.0.cmp(&b.0));
        Self(list)
    }
    fn place(&self, number: u32) -> Option<usize> {
        self.0.binary_search_by(|entry| entry.0.cmp(&number)).ok()
    }
    /// The value of a number.
    pub fn get(&self, number: u32) -> Option<&V> {
        self.0.get(self.place(number)?).map(|entry| &entry.1)
    }
    /// As [`Table::get`], to change.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut V> {
        let place = self.place(number)?;
        self.0.get_mut(place).map(|entry| &mut entry.1)
    }
    /// Whether a number has a value.
    pub fn has(&self, number: u32) -> bool {
        self.place(number).is_some()
    }
    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        self.0.iter().map(|(number, value)| (*number, value))
    }
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_whatever_order_they_came_in() {
        let mut table = Table::of([(7, 'c'), (2, 'a'), (5, 'b')]);
        assert_eq!((table.get(5), table.get(6)), (Some(&'b'), None));
        assert!(table.has(2) && !table.has(0) && !table.is_empty());
        *table.get_mut(7).unwrap() = 'd';
        assert_eq!(table.len(), 3);
        let all: Vec<_> = table.iter().collect();
        assert_eq!(all, [(2, &'a'), (5, &'b'), (7, &'d')]);
    }
}
