import JSON

/// A mistake in a filter, and its position.
package struct FilterError: Error, Equatable {
    /// The position in bytes from the start of the filter.
    package var offset: Int
    package var message: String
}
