"""Estimators with scikit-learn's conventions; scikit-learn itself is not needed to use them."""
