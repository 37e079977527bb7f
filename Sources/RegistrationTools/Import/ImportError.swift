/// The reason why an import cannot begin or continue, without the content of the file.
package struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
