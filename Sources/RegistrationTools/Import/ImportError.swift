/// The reason why an import cannot begin or continue. It does not quote the imported file.
package struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
