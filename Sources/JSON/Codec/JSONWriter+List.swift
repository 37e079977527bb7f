extension JSONWriter {
    /// Writes an array.
    mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}
