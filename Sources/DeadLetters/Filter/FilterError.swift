import JSON

/// A mistake in a filter, and its position.
package struct FilterError: Error, Equatable {
    /// In bytes from the start of the filter.
    package var offset: Int
    package var message: String
}
