import JSON

/// What is wrong with a filter, and where in it.
package struct FilterError: Error, Equatable {
    /// In bytes from its start.
    package var offset: Int
    package var message: String
}
